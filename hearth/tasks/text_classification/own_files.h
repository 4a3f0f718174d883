#pragma once

#include <functional>

#include "hearth/tasks/text_classification/columns.h"
#include "hearth/tasks/text_classification/text_classification.h"

namespace hearth::tasks {

// Opens the tables of the steps that are run. The first file's columns, which `choose` finds, are those of all.
// `test_labels` says whether the labels of the test file are read.
TextData read_own_files(const TextArguments& arguments, const TrainingArguments& training,
                        const std::function<TextColumns(const data::Table&)>& choose, LabelsIn test_labels);

}  // namespace hearth::tasks
