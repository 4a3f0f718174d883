#include "hearth/train/step_actions.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "hearth/metrics/metrics_json.h"
#include "hearth/train/best_metric.h"
#include "hearth/train/results.h"

namespace hearth {
namespace {

// Gives a flag another value while it lives.
class Switched {
 public:
  Switched(bool& flag, bool value) : flag_(flag), before_(std::exchange(flag, value)) {}
  ~Switched() { flag_ = before_; }
  Switched(const Switched&) = delete;
  Switched& operator=(const Switched&) = delete;

 private:
  bool& flag_;
  bool before_;
};

}  // namespace

StepActions::StepActions(Trainer& trainer, TrainerCore& core, LearningRate& learning_rate, const NanGuard& nan_guard,
                         RunCheckpoints& checkpoints)
    : trainer_(trainer), core_(core), learning_rate_(learning_rate), nan_guard_(nan_guard), checkpoints_(checkpoints) {}

void StepActions::before_first_step(bool ends_epoch) {
  core_.callbacks.begin_run();
  core_.callbacks.call(&TrainerCallback::on_train_begin, core_.progress());
  stop_ = stop_ || core_.callbacks.requests().should_training_stop;
  if (core_.args.eval_on_start && !stop_) log_evaluation(core_.evaluation(trainer_));
  if (!core_.state.evaluation_skipped) return;
  const Asked asked{ends_epoch, {}};
  save_if_due(asked, evaluate_if_due(asked));
}

void StepActions::after_step(const StepResult& result, double lr, bool ends_epoch) {
  take_loss(result.loss);
  stop_ = stop_ || core_.state.global_step >= core_.state.max_steps;
  in_step_ = true;
  core_.was_interrupted = result.stop;
  const Asked asked{ends_epoch, requests_of_callbacks(ends_epoch)};
  log_if_due(result, lr, asked);
  const bool best = evaluate_if_due(asked);
  log_if_due(result, lr, asked);  // an evaluation may have stopped the run early
  save_if_due(asked, best);
  stop_ = stop_ || core_.was_interrupted || core_.callbacks.requests().should_training_stop;
}

void StepActions::after_last_step(const Metrics& results) {
  if (!core_.was_interrupted && !core_.was_finished) {
    Metrics row = results;
    row.set("step", core_.state.global_step);
    core_.state.log_history.push_back(to_json(row));
    core_.callbacks.call(&TrainerCallback::on_log, core_.progress(), row);
  }
  core_.callbacks.call(&TrainerCallback::on_train_end, core_.progress());
}

// A NaN or infinite loss counts as sum / (steps + 1) of the losses since the last log, as in the Trainer.
void StepActions::take_loss(double loss) {
  TrainerState& state = core_.state;
  if (!std::isfinite(loss) && core_.args.logging_nan_inf_filter)
    loss = state.loss_since_log / static_cast<double>(state.steps_since_log + 1);
  state.loss_sum += loss;
  state.loss_since_log += loss;
  ++state.steps_since_log;
}

TrainerControl StepActions::requests_of_callbacks(bool ends_epoch) {
  CallbackHandler& callbacks = core_.callbacks;
  callbacks.call(&TrainerCallback::on_step_end, core_.progress());
  stop_ = stop_ || callbacks.requests().should_training_stop;
  if (ends_epoch || stop_) callbacks.call(&TrainerCallback::on_epoch_end, core_.progress());
  const TrainerControl requests = callbacks.take_requests();
  stop_ = stop_ || requests.should_training_stop;
  return requests;
}

// Stopping within an epoch counts as the end of that epoch, unless the run is to be resumed.
bool StepActions::is_due(Strategy strategy, std::int64_t every, bool ends_epoch) const {
  if (strategy == Strategy::steps) return every > 0 && core_.state.global_step % every == 0;
  return strategy == Strategy::epoch && (ends_epoch || stop_);
}

void StepActions::log_if_due(const StepResult& result, double lr, const Asked& asked) {
  TrainerState& state = core_.state;
  const bool first = core_.args.logging_first_step && state.global_step == 1;
  const bool due = first || asked.by_callbacks.should_log ||
                   is_due(core_.args.logging_strategy, state.logging_steps, asked.ends_epoch);
  if (state.steps_since_log == 0 || !due) return;
  Metrics row;
  row.set("loss", rounded(state.loss_since_log / static_cast<double>(state.steps_since_log), 4));
  row.set("grad_norm", result.grad_norm);
  row.set("learning_rate", lr);
  state.loss_since_log = 0;
  state.steps_since_log = 0;
  core_.log_row(std::move(row));
}

void StepActions::log_evaluation(const Metrics& metrics) {
  core_.log_row(metrics);
  core_.callbacks.call(&TrainerCallback::on_evaluate, core_.progress(), metrics);
  stop_ = stop_ || core_.callbacks.requests().should_training_stop;
}

bool StepActions::evaluate() {
  const Metrics metrics = core_.evaluation(trainer_);
  learning_rate_.take(metrics);
  const bool best = take_best_metric(core_.state, core_.args, metrics);
  log_evaluation(metrics);
  if (out_of_patience(core_.state, core_.args)) {
    core_.print_line(fmt::format("stopping early: {} evaluations without a better {}",
                                 core_.state.evaluations_without_gain,
                                 core_.args.metric_for_best_model.value_or("metric")));
    stop_ = true;
  }
  return best;
}

// A run that is asked to stop leaves the evaluation to the run that resumes.
bool StepActions::evaluate_if_due(const Asked& asked) {
  const TrainingArguments& args = core_.args;
  TrainerState& state = core_.state;
  state.evaluation_skipped = false;
  const double passed = args.eval_strategy == Strategy::epoch ? state.epoch : static_cast<double>(state.global_step);
  const bool due = is_due(args.eval_strategy, state.eval_steps, asked.ends_epoch) && passed >= args.eval_delay;
  if (!due && !asked.by_callbacks.should_evaluate) return false;
  try {
    const Switched stoppable(core_.evaluation_may_stop, in_step_);
    if (!core_.was_interrupted) return evaluate();
  } catch (const EvaluationStopped&) {
    core_.was_interrupted = true;
  }
  state.evaluation_skipped = due;
  return false;
}

// A run that is asked to stop saves a checkpoint to resume from, whatever --save_strategy says.
void StepActions::save_if_due(const Asked& asked, bool best) {
  const TrainingArguments& args = core_.args;
  const bool last = core_.state.global_step >= core_.state.max_steps;
  const bool due = asked.by_callbacks.should_save ||
                   is_due(args.save_strategy, core_.state.save_steps, asked.ends_epoch) ||
                   (args.save_strategy == Strategy::steps && last) || (args.save_strategy == Strategy::best && best);
  bool saved = false;
  if (due && !core_.was_interrupted) {
    save_checkpoint(args.save_only_model);
    saved = !args.save_only_model;
    core_.was_interrupted = in_step_ && core_.stop_requested();  // while this step was evaluated or saved
  }
  if (core_.was_interrupted && !saved) save_checkpoint(false);
}

void StepActions::save_checkpoint(bool only_model) {
  if (nan_guard_.may_save(core_.state.global_step, core_.model->parameters(), checkpoints_.keeper()))
    checkpoints_.save(only_model);
}

}  // namespace hearth
