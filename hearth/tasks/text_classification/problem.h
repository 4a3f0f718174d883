#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hearth/tasks/text_classification/labels.h"

namespace hearth::tasks {

// An Error unless there are at least two labels to learn. `names` are those of the training data.
void check_several(const std::vector<std::string>& names, const std::string& file);

// The labels in the order of a model that has the same (in_order_of_model). If the model has others, a warning.
LabelMap learned_labels(std::vector<std::string> names, const models::Config& config, bool warns);

// The problem of a model that is evaluated or makes predictions, not trained: what its config.json says. A model whose
// labels have no names takes `names`, those of the data, if it has as many. `labels` is the kind of the data's labels,
// if it has some.
TextProblem problem_of_model(const models::Config& config, std::optional<data::ColumnKind> labels,
                             std::vector<std::string> names);

}  // namespace hearth::tasks
