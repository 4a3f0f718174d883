#include "hearth/train/best_metric.h"

#include <fmt/ranges.h>

#include <cmath>
#include <string>
#include <vector>

#include "hearth/base/check.h"

namespace hearth {

std::string evaluation_name(const std::string& metric) {
  return metric.starts_with("eval_") ? metric : "eval_" + metric;
}

double metric_for_best_model(const TrainingArguments& args, const Metrics& metrics) {
  const std::string asked = args.metric_for_best_model.value_or("loss");
  const std::string name = evaluation_name(asked);
  std::vector<std::string> given;
  for (const auto& [key, value] : metrics) given.push_back(key);
  check(metrics.contains(name), "--metric_for_best_model {}: the evaluation gives no {}; it gives {}", asked, name,
        fmt::join(given, ", "));
  return metrics.at(name);
}

bool take_best_metric(TrainerState& state, const TrainingArguments& args, const Metrics& metrics) {
  if (!args.metric_for_best_model) return false;
  const double value = metric_for_best_model(args, metrics);
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
