#include "hearth/train/learning_rate.h"

#include "hearth/base/log.h"
#include "hearth/train/best_metric.h"
#include "hearth/train/schedule_settings.h"

namespace hearth {

LearningRate::LearningRate(const TrainingArguments& args, std::int64_t max_steps) : args_(args) {
  if (reduces_on_plateau(args_)) {
    plateau_ = make_plateau(args_);
  } else {
    schedule_ = schedule_options(args_, max_steps);
  }
}

double LearningRate::after(std::int64_t updates) const {
  if (plateau_) return plateau_->lr();
  return args_.learning_rate * optim::schedule_factor(schedule_, updates, args_.learning_rate);
}

void LearningRate::take(const Metrics& evaluation) {
  if (plateau_) plateau_->take(metric_for_best_model(args_, evaluation));
}

void LearningRate::warn_of_opposite_mode() const {
  const std::string better = args_.greater_is_better.value_or(false) ? "max" : "min";
  if (!plateau_ || plateau_->options().mode == better) return;
  log_warning(
      "{} takes {} {} for better, but for the best model it is the other way round: set mode to {} in "
      "--lr_scheduler_kwargs, or --greater_is_better",
      optim::kPlateauName, better == "max" ? "a smaller" : "a greater", args_.metric_for_best_model.value_or("metric"),
      better);
}

}  // namespace hearth
