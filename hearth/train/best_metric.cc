#include "hearth/train/best_metric.h"

#include <cmath>

#include "hearth/base/error.h"

namespace hearth {

bool take_best_metric(TrainerState& state, const TrainingArguments& args, const io::Json& metrics) {
  if (!args.metric_for_best_model) return false;
  std::string name = *args.metric_for_best_model;
  if (!name.starts_with("eval_")) name = "eval_" + name;
  check(metrics.contains(name), "--metric_for_best_model {}: the evaluation gives no {}", *args.metric_for_best_model,
        name);
  const double value = metrics[name].get<double>();
  const bool first = !std::isnan(value) && (!state.best_metric || std::isnan(*state.best_metric));
  const double difference = value - state.best_metric.value_or(value);
  const double gain = args.greater_is_better.value_or(true) ? difference : -difference;
  const bool best = first || gain > 0;
  state.evaluations_without_gain =
      first || gain > args.early_stopping_threshold ? 0 : state.evaluations_without_gain + 1;
  if (best) {
    state.best_metric = value;
    state.best_global_step = state.global_step;
  }
  return best;
}

bool out_of_patience(const TrainerState& state, const TrainingArguments& args) {
  return args.early_stopping_patience && state.evaluations_without_gain >= *args.early_stopping_patience;
}

}  // namespace hearth
