#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hearth/metrics/classification.h"

namespace hearth::metrics {

// How often a class (row) was predicted as another (column).
class ConfusionMatrix {
 public:
  // Labels are from 0 to classes - 1; another label is an Error.
  ConfusionMatrix(Labels truth, Labels predicted, std::size_t classes);

  std::size_t classes() const { return classes_; }
  std::int64_t at(std::size_t truth, std::size_t predicted) const { return cells_[truth * classes_ + predicted]; }
  std::span<const std::int64_t> row(std::size_t truth) const { return {&cells_[truth * classes_], classes_}; }
  std::vector<Counts> counts() const;  // per class

 private:
  std::size_t classes_;
  std::vector<std::int64_t> cells_;  // (classes, classes)
};

// A table of at most `width` columns where that is possible: with the names over its columns, or else with numbers, or
// else with the most frequent mistakes of each class alone. Ends with a newline.
std::string confusion_table(const ConfusionMatrix& matrix, std::span<const std::string> names, std::size_t width = 120);

}  // namespace hearth::metrics
