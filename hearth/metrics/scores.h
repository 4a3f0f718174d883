#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hearth/base/api.h"

namespace hearth::metrics {

// How often a class was predicted correctly, predicted, and true.
struct Counts {
  std::int64_t correct = 0, predicted = 0, truth = 0;
};

// `support` is the number of true examples of the class.
struct Scores {
  double precision = 0, recall = 0, f1 = 0;
  std::int64_t support = 0;
};

struct Averages {
  Scores micro;     // from the summed counts
  Scores macro;     // every class weighs the same
  Scores weighted;  // every class weighs as much as its support
};

// numerator / denominator; 0 if the denominator is 0.
HEARTH_API double ratio(std::int64_t numerator, std::int64_t denominator);

// As scikit-learn: F1 is 2 correct / (truth + predicted), and a score whose denominator is 0 is 0.
HEARTH_API Scores scores_of(const Counts& counts);
HEARTH_API std::vector<Scores> scores_of(std::span<const Counts> classes);

// Over all given classes, including those that never occur; there is at least one.
HEARTH_API Averages averages_of(std::span<const Counts> classes);

}  // namespace hearth::metrics
