#pragma once

#include <memory>
#include <string>

#include "hearth/base/timer.h"
#include "hearth/train/callback_handler.h"
#include "hearth/train/checkpoint_keeper.h"
#include "hearth/train/memory_metrics.h"
#include "hearth/train/speed.h"
#include "hearth/train/trainer.h"
#include "hearth/train/trainer_state.h"
#include "hearth/train/training_step.h"

namespace hearth {

struct EvaluationStopped {};  // ends an evaluation between two steps, by TrainerOptions::stop_requested

// What a Trainer holds: its settings, and what is known of the last run.
struct TrainerCore {
  TrainerCore(std::shared_ptr<nn::Model> its_model, TrainingArguments settings, TrainerOptions its_options);

  std::shared_ptr<nn::Model> model;
  TrainingArguments args;
  TrainerOptions options;
  CallbackHandler callbacks;
  MemoryMetrics memory;
  double preparation_seconds = 0;

  TrainerState state;
  CheckpointKeeper keeper;
  Speed speed;
  StepFacts steps;
  Timer running;  // since the run began
  bool was_finished = false, was_interrupted = false;
  bool evaluation_may_stop = false;  // by EvaluationStopped

  const parallel::Team& team() const { return options.team; }
  bool is_quiet() const { return !team().is_first() || args.disable_tqdm.value_or(false); }
  bool saves() const { return team().is_first() || (args.save_on_each_node && team().is_first_of_host()); }
  bool can_evaluate() const { return options.evaluate || options.eval_dataset != nullptr; }
  bool stop_requested() const;  // of any process; each must call it
  TrainingProgress progress() const;
  StepOptions step_options() const;
  ops::LossOptions loss_options() const;

  void save_model(const std::filesystem::path& folder) const;
  void print_line(const std::string& line) const;
  // Prints a row and adds it to the log history, after epoch and step were set.
  void log_row(Metrics row);
  // Evaluates the dataset, or as the options say; the same metrics on all ranks.
  Metrics evaluation(Trainer& trainer, const Dataset* dataset = nullptr) const;
  Metrics of_first_rank(const Metrics& metrics) const;  // on all ranks
};

}  // namespace hearth
