#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "hearth/data/dataset.h"
#include "hearth/metrics/metrics.h"
#include "hearth/nn/model.h"
#include "hearth/optim/loss_scaler.h"
#include "hearth/optim/plateau.h"
#include "hearth/optim/schedule.h"
#include "hearth/parallel/data_parallel.h"
#include "hearth/parallel/team.h"
#include "hearth/train/checkpoint_keeper.h"
#include "hearth/train/memory_metrics.h"
#include "hearth/train/nan_guard.h"
#include "hearth/train/progress.h"
#include "hearth/train/speed.h"
#include "hearth/train/trainer_state.h"
#include "hearth/train/training_arguments.h"
#include "hearth/train/training_step.h"

namespace hearth {

struct TrainingPlan;

class Trainer;

// What a task adds to training.
struct TrainerHooks {
  std::function<Metrics(Trainer&)> evaluate;  // names begin with eval_; the metrics of the first process count
  std::function<void(const std::filesystem::path&)> save_beside;  // what belongs beside the model: its tokenizer
  ops::LossOptions loss;
  std::vector<Arguments::Resolved> flags;  // of the command, as training_args.json beside a checkpoint holds them
  // Whether this process was asked to stop; asked from the first step on. All processes have it, or none.
  std::function<bool()> stop_requested;
};

// Trains a model as the Hugging Face Trainer does: the same arguments, order of data, schedule, logs and files. In a
// team each process has a Trainer; all start from the weights of the first process, which alone logs and saves.
class Trainer {
 public:
  // `train_data` may be null where nothing is trained.
  Trainer(nn::Model& model, TrainingArguments args, DatasetPtr train_data, TrainerHooks hooks = {},
          parallel::Team team = {});

  // Trains to the end, from the checkpoint if one is given, and returns the train metrics. In a team only the first
  // process reads the checkpoint.
  Metrics train(const std::optional<std::filesystem::path>& checkpoint = std::nullopt);
  // True after train() was given the checkpoint of a finished run: no step was left to make.
  bool was_finished() const { return was_finished_; }
  // True after a process was asked to stop: train() ended early, and the checkpoint of the last step is whole.
  bool was_interrupted() const { return interrupted_; }

  // Runs the model over a dataset in order, without dropout, and passes each batch with its output to `predicted`. In a
  // team each process runs its share of the batches; every item is in exactly one of them.
  using Predicted = std::function<void(std::span<const std::int64_t> items, const Batch&, const nn::ModelOutput&)>;
  void predict(const Dataset& dataset, const Predicted& predicted);

  // Whether this process writes the model's files.
  bool saves() const { return team_.is_first() || (args_.save_on_each_node && team_.is_first_of_host()); }
  // config.json, model.safetensors and what belongs beside them.
  void save_model(const std::filesystem::path& folder) const;

  const TrainerState& state() const { return state_; }
  MemoryMetrics& memory() { return memory_; }
  double preparation_seconds() const { return preparation_seconds_; }      // of the constructor
  double tokens_per_second() const { return speed_.tokens_per_second(); }  // of training, in all processes
  std::int64_t train_size() const { return train_data_ == nullptr ? 0 : train_data_->size(); }
  const TrainingArguments& arguments() const { return args_; }
  const parallel::Team& team() const { return team_; }

 private:
  bool is_quiet() const { return !team_.is_first() || args_.disable_tqdm.value_or(false); }
  void print_line(const std::string& line) const;
  void broadcast_weights();
  void begin_schedule(std::int64_t max_steps);
  void resume(const std::filesystem::path& checkpoint, std::int64_t max_steps);
  bool is_finished(const TrainingPlan& plan) const;
  void note_settings(const TrainingPlan& plan);
  void warn_of_other_settings(const TrainerState& stored, const std::filesystem::path& checkpoint) const;
  double learning_rate() const;  // of the next update
  ops::LossOptions loss_options() const;
  StepOptions step_options() const;
  void find_batch_size(const std::optional<std::filesystem::path>& checkpoint);
  Metrics train_metrics(const TrainingPlan& plan, std::int64_t first_step) const;
  void train_epoch(const TrainingPlan& plan, std::int64_t epoch, Progress& progress);
  void after_step(const StepResult& result, double lr, bool ends_epoch, Progress& progress);
  bool is_due(Strategy strategy, std::int64_t every, bool ends_epoch) const;
  bool stop_requested() const;  // from any process; each must call it
  void log_row(Metrics row);
  void log_loss(const StepResult& result, double lr);
  Metrics evaluation();
  bool evaluate();                        // true: the best so far
  bool evaluate_if_due(bool ends_epoch);  // likewise
  void save_if_due(bool ends_epoch, bool best);
  void save_checkpoint(bool only_model);
  void load_best_model();
  void load_best_weights();

  nn::Model& model_;
  TrainingArguments args_;
  DatasetPtr train_data_;
  TrainerHooks hooks_;
  parallel::Team team_;
  std::unique_ptr<parallel::DataParallel> ddp_;
  optim::LossScaler scaler_;
  optim::ScheduleOptions schedule_;
  std::optional<optim::Plateau> plateau_;  // instead of the schedule
  TrainerState state_;
  CheckpointKeeper checkpoints_;
  NanGuard nan_guard_;
  std::int64_t matmul_parameters_ = 0;  // all but embeddings, for total_flos
  Speed speed_;
  Timer running_;
  MemoryMetrics memory_;
  double preparation_seconds_ = 0;
  bool stop_ = false, was_finished_ = false;
  bool stoppable_ = false, interrupted_ = false;  // since the first step; by hooks_.stop_requested
};

}  // namespace hearth
