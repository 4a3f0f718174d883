#pragma once

#include <cstdint>
#include <span>

#include "hearth/base/api.h"
#include "hearth/metrics/scores.h"

// Scores of one label per example, as scikit-learn computes them.
namespace hearth::metrics {

// One label per example; any integers.
using Labels = std::span<const std::int64_t>;

// The share of examples with the right label.
HEARTH_API double accuracy(Labels truth, Labels predicted);

// The scores of class 1; every other label counts as the negative class.
HEARTH_API Scores binary_scores(Labels truth, Labels predicted);

// From -1 to 1; 0 if all true labels, or all predicted ones, are the same.
HEARTH_API double matthews_correlation(Labels truth, Labels predicted);

}  // namespace hearth::metrics
