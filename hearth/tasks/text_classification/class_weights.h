#pragma once

#include <string>
#include <vector>

#include "hearth/tasks/text_classification/labels.h"

namespace hearth::tasks {

// --class_weights: none, balanced, or a number for each label.
struct ClassWeights {
  enum class Kind { none, balanced, given };
  Kind kind = Kind::none;
  std::vector<float> given = {};
};
ClassWeights parse_class_weights(const std::string& text);  // throws Error

// The weights by label, empty without any. Balanced: with one label per text n / (k * count), as scikit-learn, where k
// labels occur; with several labels per text the number of texts without a label over that with it, PyTorch's
// pos_weight. Labels that never occur weigh 1.
std::vector<float> weights_by_label(const ClassWeights& weights, const TextProblem& problem, const TextLabels& train);

}  // namespace hearth::tasks
