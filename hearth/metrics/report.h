#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hearth/metrics/confusion_matrix.h"
#include "hearth/metrics/multi_label.h"
#include "hearth/metrics/scores.h"

namespace hearth::metrics {

struct ClassScores {
  std::string name;
  Scores scores;
};

struct Report {
  std::vector<ClassScores> classes;
  Averages averages;
  std::optional<double> accuracy;  // without it there are several labels per example
};

// As scikit-learn with labels=range(classes): averages include classes that never occur.
Report classification_report(const ConfusionMatrix& matrix, std::span<const std::string> names);
Report multi_label_report(const MultiLabelScores& scores, std::span<const std::string> names);

// As scikit-learn's classification_report prints it; the line of the samples average is missing.
std::string report_text(const Report& report, int digits = 4);

}  // namespace hearth::metrics
