#pragma once

#include <cstdint>

#include "hearth/train/learning_rate.h"
#include "hearth/train/nan_guard.h"
#include "hearth/train/run_checkpoints.h"
#include "hearth/train/trainer_core.h"

namespace hearth {

// What a run does between its steps, as the settings and the callbacks ask for it: logs, evaluates, saves, ends.
class StepActions {
 public:
  StepActions(Trainer& trainer, TrainerCore& core, LearningRate& learning_rate, const NanGuard& nan_guard,
              RunCheckpoints& checkpoints);

  bool ends_run() const { return stop_; }
  void end_run() { stop_ = true; }

  void before_first_step(bool ends_epoch);  // `ends_epoch`: the step that a run resumes from was the last of its epoch
  void after_step(const StepResult& result, double lr, bool ends_epoch);
  void after_last_step(const Metrics& results);

 private:
  struct Asked {  // for the present step
    bool ends_epoch = false;
    TrainerControl by_callbacks;
  };

  void take_loss(double loss);
  TrainerControl requests_of_callbacks(bool ends_epoch);
  bool is_due(Strategy strategy, std::int64_t every, bool ends_epoch) const;
  void log_if_due(const StepResult& result, double lr, const Asked& asked);
  void log_evaluation(const Metrics& metrics);
  bool evaluate();                           // true: the best so far
  bool evaluate_if_due(const Asked& asked);  // likewise
  void save_if_due(const Asked& asked, bool best);
  void save_checkpoint(bool only_model);

  Trainer& trainer_;
  TrainerCore& core_;
  LearningRate& learning_rate_;
  const NanGuard& nan_guard_;
  RunCheckpoints& checkpoints_;
  bool stop_ = false;
  bool in_step_ = false;  // no longer before the first step, when nobody is asked whether to stop
};

}  // namespace hearth
