#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hearth/base/api.h"
#include "hearth/base/arguments.h"
#include "hearth/data/dataset.h"
#include "hearth/metrics/metrics.h"
#include "hearth/nn/model.h"
#include "hearth/ops/context.h"
#include "hearth/parallel/team.h"
#include "hearth/train/callbacks.h"
#include "hearth/train/eval_prediction.h"
#include "hearth/train/training_arguments.h"

namespace hearth {

class MemoryMetrics;
class Trainer;
struct TrainerCore;
struct TrainerState;

// What a Trainer works with beside model and settings. All members are optional.
struct TrainerOptions {
  DatasetPtr train_dataset = {}, eval_dataset = {};
  // The scores of an evaluation, without "eval_" in front of their names. Rank 0 calls it, with the values of all
  // ranks.
  std::function<Metrics(const EvalPrediction&)> compute_metrics = {};
  std::vector<std::shared_ptr<TrainerCallback>> callbacks = {};
  parallel::Team team = {};  // the ranks that train together; this process alone if none is given

  // An evaluation of the program's own, instead of the one of eval_dataset; all ranks call it. Names begin with eval_;
  // the metrics of rank 0 count.
  std::function<Metrics(Trainer&)> evaluate = {};
  // Writes what belongs beside the model, such as its tokenizer.
  std::function<void(const std::filesystem::path& folder)> save_beside = {};
  ops::LossOptions loss = {};  // its label_smoothing is that of the settings
  // The flags of the program, as training_args.json beside a checkpoint holds them: a resumed run names those that
  // differ.
  std::vector<Arguments::Resolved> flags = {};
  // Whether this process was asked to stop; asked from the first step on. All ranks have it, or none.
  std::function<bool()> stop_requested = {};
  // A callback reports StepFacts: the matmul rate is measured, and one step in 64 is profiled.
  bool is_watched = false;
};

// Trains a model as the Hugging Face Trainer does: the same arguments, order of data, schedule, logs and files. In a
// team each rank has a Trainer, and all call the same functions in the same order; all start from the weights of rank
// 0, which alone logs and saves. A process trains one model at a time.
class HEARTH_API Trainer {
 public:
  // The weights of the model are loaded or initialised.
  Trainer(std::shared_ptr<nn::Model> model, TrainingArguments args, TrainerOptions options = {});
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  // Trains to the end, from the checkpoint if one is given, and returns the train metrics. In a team only rank 0 reads
  // the checkpoint.
  Metrics train(const std::optional<std::filesystem::path>& checkpoint = std::nullopt);
  // True after train() was given the checkpoint of a finished run: no step was left to make.
  bool was_finished() const;
  // True after a process was asked to stop: train() ended early, and the checkpoint of the last step is whole.
  bool was_interrupted() const;

  // Evaluates, logs the metrics and returns them, the same on all ranks. Without a dataset: TrainerOptions::evaluate
  // or, if there is none, on eval_dataset.
  Metrics evaluate(const DatasetPtr& dataset = {});
  // The logits and labels of a dataset, and its metrics: PREFIX_loss and the scores if it has labels, PREFIX_runtime,
  // ...
  PredictionOutput predict(const Dataset& dataset, const std::string& prefix = "test");
  // Runs the model over a dataset in order, without dropout, and passes each batch with its output to `predicted`. Each
  // rank runs its share of the batches; every item is in exactly one of them.
  using Predicted = std::function<void(std::span<const std::int64_t> items, const Batch&, const nn::ModelOutput&)>;
  void predict_batches(const Dataset& dataset, const Predicted& predicted);

  // config.json, model.safetensors and what save_beside adds. All ranks may call it; those that save write.
  void save_model(const std::filesystem::path& folder) const;
  bool saves() const;  // whether this rank writes the model's files

  void add_callback(std::shared_ptr<TrainerCallback> callback);  // not while it trains

  TrainingProgress progress() const;
  const TrainingArguments& arguments() const;  // after the checks, and with the batch size that was found
  const parallel::Team& team() const;
  nn::Model& model() const;

  // Inside of the library: what trainer_state.json holds, and what results report.
  const TrainerState& state() const;
  std::filesystem::path last_checkpoint() const;  // that train() has written or resumed from; empty: there is none
  MemoryMetrics& memory();
  double preparation_seconds() const;  // of the constructor
  double tokens_per_second() const;    // of training, on all ranks
  std::int64_t train_size() const;

 private:
  std::unique_ptr<TrainerCore> core_;
};

}  // namespace hearth
