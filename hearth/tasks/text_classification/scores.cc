#include "hearth/tasks/text_classification/scores.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/base/nearest_name.h"
#include "hearth/metrics/classification.h"
#include "hearth/metrics/confusion_matrix.h"
#include "hearth/metrics/multi_label.h"
#include "hearth/metrics/regression.h"

namespace hearth::tasks {
namespace {

using models::ProblemType;

std::vector<std::string> metric_names(const TextProblem& problem) {
  if (problem.ranks) return {"mse", "pearson", "spearman"};
  if (problem.is_regression()) return {"mse", "pearson", "pearsonr", "spearmanr"};
  std::vector<std::string> names{"accuracy"};
  if (!problem.has_several_labels()) names.emplace_back("matthews_correlation");
  for (const char* score : {"f1", "precision", "recall"})
    for (const char* average : {"", "_micro", "_macro", "_weighted"}) names.push_back(std::string(score) + average);
  return names;
}

std::string_view described(ProblemType problem) {
  if (problem == ProblemType::regression) return "regression";
  return problem == ProblemType::single_label_classification ? "one label per text" : "several labels per text";
}

// "f1_macro" -> f1 of the macro average
double score_named(std::string_view name, const metrics::Scores& scores) {
  if (name.starts_with("precision")) return scores.precision;
  return name.starts_with("recall") ? scores.recall : scores.f1;
}

const metrics::Scores& average_named(std::string_view name, const metrics::Averages& averages) {
  if (name.ends_with("_macro")) return averages.macro;
  return name.ends_with("_weighted") ? averages.weighted : averages.micro;
}

bool has_average(std::string_view name) {
  return name.ends_with("_micro") || name.ends_with("_macro") || name.ends_with("_weighted");
}

double regression_score(std::string_view name, const TextLabels& truth, const TextPredictions& predicted) {
  if (name == "mse") return metrics::mean_squared_error(std::span(truth.targets), predicted.numbers);
  if (name == "spearmanr") return metrics::spearman(std::span(truth.targets), predicted.numbers);
  return metrics::pearson(std::span(truth.targets), predicted.numbers);
}

// As CrossEncoderCorrelationEvaluator, which computes in double.
double ranking_score(std::string_view name, const TextLabels& truth, const TextPredictions& predicted) {
  const std::vector<double> wanted(truth.scores.begin(), truth.scores.end());
  const std::vector<double> found(predicted.numbers.begin(), predicted.numbers.end());
  if (name == "mse") return metrics::mean_squared_error(std::span(wanted), found);
  return name == "spearman" ? metrics::spearman(wanted, found) : metrics::pearson(wanted, found);
}

double several_labels_score(std::string_view name, const TextProblem& problem, const TextLabels& truth,
                            const TextPredictions& predicted) {
  const auto scores =
      metrics::multi_label_scores(truth.flags(), predicted.flags, static_cast<std::size_t>(problem.labels.size()));
  return name == "accuracy" ? scores.subset_accuracy : score_named(name, average_named(name, scores.averages));
}

double one_label_score(std::string_view name, const TextMetrics& metrics, const TextProblem& problem,
                       const TextLabels& truth, const TextPredictions& predicted) {
  if (name == "accuracy") return metrics::accuracy(truth.classes, predicted.classes);
  if (name == "matthews_correlation") return metrics::matthews_correlation(truth.classes, predicted.classes);
  const metrics::ConfusionMatrix matrix(truth.classes, predicted.classes,
                                        static_cast<std::size_t>(problem.labels.size()));
  const std::vector<metrics::Counts> counts = matrix.counts();
  if (has_average(name)) return score_named(name, average_named(name, metrics::averages_of(counts)));
  const auto positive = static_cast<std::size_t>(problem.labels.find(metrics.positive).value_or(1));
  return score_named(name, metrics::scores_of(counts.at(positive)));
}

}  // namespace

std::vector<std::string> TextMetrics::keys() const {
  std::vector<std::string> keys = names;
  if (combines && names.size() > 1) keys.emplace_back("combined_score");
  return keys;
}

std::string usual_metric(const TextProblem& problem) {
  if (problem.ranks) return "pearson,spearman";
  if (problem.is_regression()) return "mse";
  return problem.has_several_labels() ? "f1" : "accuracy";
}

void check_metric(const std::string& name, const TextProblem& problem) {
  const std::vector<std::string> known = metric_names(problem);
  check(std::ranges::find(known, name) != known.end(), "--metric_name {} is not a metric for {}; these are: {}{}", name,
        described(problem.type), fmt::join(known, ", "), did_you_mean(nearest_name(name, known)));
  const bool of_two_labels = name == "f1" || name == "precision" || name == "recall";
  check(problem.has_several_labels() || !of_two_labels || problem.labels.size() == 2,
        "--metric_name {0} is for two labels, and there are {1}; give {0}_macro, {0}_micro or {0}_weighted", name,
        problem.labels.size());
}

Metrics text_scores(const TextMetrics& metrics, const TextProblem& problem, const TextLabels& truth,
                    const TextPredictions& predicted) {
  Metrics scores;
  double sum = 0;
  for (const std::string& name : metrics.names) {
    const double score = problem.ranks                  ? ranking_score(name, truth, predicted)
                         : problem.is_regression()      ? regression_score(name, truth, predicted)
                         : problem.has_several_labels() ? several_labels_score(name, problem, truth, predicted)
                                                        : one_label_score(name, metrics, problem, truth, predicted);
    scores.set(name, score);
    sum += score;
  }
  if (metrics.combines && metrics.names.size() > 1)
    scores.set("combined_score", sum / static_cast<double>(metrics.names.size()));
  return scores;
}

}  // namespace hearth::tasks
