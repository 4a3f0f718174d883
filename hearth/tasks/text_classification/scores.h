#pragma once

#include <string>
#include <vector>

#include "hearth/metrics/metrics.h"
#include "hearth/tasks/text_classification/labels.h"
#include "hearth/tasks/text_classification/predictions.h"

namespace hearth::tasks {

// The metrics of an evaluation, in order.
struct TextMetrics {
  std::vector<std::string> names;
  bool combines = false;      // several: also combined_score, their mean
  std::string positive = {};  // the label that f1, precision and recall of two labels are about; empty: the second

  std::vector<std::string> keys() const;  // with combined_score
};

// Accuracy, mse, or micro F1 for several labels per text, as the scripts choose; the correlations of a cross-encoder.
std::string usual_metric(const TextProblem& problem);

// An Error where the problem has no such metric.
void check_metric(const std::string& name, const TextProblem& problem);

Metrics text_scores(const TextMetrics& metrics, const TextProblem& problem, const TextLabels& truth,
                    const TextPredictions& predicted);

}  // namespace hearth::tasks
