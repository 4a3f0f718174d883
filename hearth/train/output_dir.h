#pragma once

#include <filesystem>
#include <optional>

#include "hearth/train/training_arguments.h"

namespace hearth {

// Checks --output_dir and returns the checkpoint to resume from, if any. Errors: a folder that cannot be written into
// or created; one that is not empty, unless the run resumes from a checkpoint in it, only evaluates, or is given
// --overwrite_output_dir. Creates nothing, and removes only what io::finish_replacements removes.
std::optional<std::filesystem::path> find_resume_checkpoint(const TrainingArguments& args);

}  // namespace hearth
