#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "hearth/io/json.h"
#include "hearth/nn/model.h"
#include "hearth/optim/loss_scaler.h"
#include "hearth/optim/optimizer.h"
#include "hearth/optim/schedule.h"
#include "hearth/train/checkpoint_keeper.h"
#include "hearth/train/dataset.h"
#include "hearth/train/progress.h"
#include "hearth/train/speed.h"
#include "hearth/train/trainer_state.h"
#include "hearth/train/training_arguments.h"
#include "hearth/train/training_step.h"

namespace hearth {

struct TrainingPlan;

struct TrainerHooks {
  std::function<io::Json()> evaluate;                             // metrics, their names prefixed with eval_
  std::function<void(const std::filesystem::path&)> save_beside;  // what belongs beside the model: its tokenizer
};

// Trains a model as the Hugging Face Trainer does: the same arguments, order of data, schedule, logs and files.
class Trainer {
 public:
  Trainer(nn::Model& model, TrainingArguments args, Dataset train_data, TrainerHooks hooks = {});

  // Trains to the end, from the checkpoint where one is given, and returns the train metrics.
  io::Json train(const std::optional<std::filesystem::path>& checkpoint = std::nullopt);

  // Runs the model over a dataset in order, without dropout, and hands over each batch with its output.
  using Predicted = std::function<void(std::span<const std::int64_t> items, const Batch&, const nn::ModelOutput&)>;
  void predict(const Dataset& dataset, const Predicted& predicted);

  // config.json, model.safetensors and what belongs beside them.
  void save_model(const std::filesystem::path& folder) const;

  const TrainerState& state() const { return state_; }
  std::int64_t train_size() const { return train_data_.size; }

 private:
  void resume(const std::filesystem::path& checkpoint, std::int64_t max_steps);
  void note_settings(const TrainingPlan& plan);
  io::Json train_metrics(const TrainingPlan& plan, std::int64_t first_step) const;
  void train_epoch(const TrainingPlan& plan, std::int64_t epoch, Progress& progress);
  void after_step(const StepResult& result, double lr, bool ends_epoch, Progress& progress);
  void log_row(io::Json row, Progress& progress);
  void log_loss(const StepResult& result, double lr, Progress& progress);
  bool evaluate(Progress& progress);  // true: the best so far
  void save_checkpoint();
  void load_best_model();

  nn::Model& model_;
  TrainingArguments args_;
  Dataset train_data_;
  TrainerHooks hooks_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  optim::LossScaler scaler_;
  optim::ScheduleOptions schedule_;
  TrainerState state_;
  CheckpointKeeper checkpoints_;
  std::int64_t multiplied_parameters_ = 0;  // all but embeddings, for total_flos
  Speed speed_;
  Timer running_;
  bool stop_ = false;
};

}  // namespace hearth
