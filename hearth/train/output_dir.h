#pragma once

#include <filesystem>
#include <optional>

#include "hearth/train/training_arguments.h"

namespace hearth {

// The checkpoint to resume from, if any. A folder that is not empty is an error unless the run resumes from a
// checkpoint in it or --overwrite_output_dir is given; nothing in it is removed but what tidy_folders removes.
std::optional<std::filesystem::path> find_resume_checkpoint(const TrainingArguments& args);

}  // namespace hearth
