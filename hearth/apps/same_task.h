#pragma once

#include <filesystem>

#include "hearth/models/pretrained.h"
#include "hearth/train/training_arguments.h"

namespace hearth::apps {

// An Error if the checkpoint that the run resumes from has another head than its model, or other labels: that the sizes
// of both fit says nothing. Labels without names say nothing either, and numbers for names are a warning.
void check_same_task(const std::filesystem::path& checkpoint, const models::Pretrained& model,
                     const TrainingArguments& args);

}  // namespace hearth::apps
