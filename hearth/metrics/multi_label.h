#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hearth/metrics/scores.h"

// Scores of several labels per example, as scikit-learn computes them.
namespace hearth::metrics {

using Flags = std::span<const std::uint8_t>;  // (examples, labels), 0 or 1

struct MultiLabelScores {
  std::vector<Counts> counts;  // per label
  std::vector<Scores> labels;  // per label
  Averages averages;
  double subset_accuracy = 0;  // the share of examples whose labels are all right
};

MultiLabelScores multi_label_scores(Flags truth, Flags predicted, std::size_t labels);

}  // namespace hearth::metrics
