#pragma once

#include <string>

#include "hearth/io/json.h"
#include "hearth/tasks/text_classification/labels.h"
#include "hearth/tasks/text_classification/predictions.h"

namespace hearth::tasks {

// The scores of each class and, with one label per text, the confusion matrix; empty for regression.
struct ClassReport {
  std::string text;  // for the terminal
  io::Json json;     // the same numbers
};

ClassReport class_report(const TextProblem& problem, const TextLabels& truth, const TextPredictions& predicted);

}  // namespace hearth::tasks
