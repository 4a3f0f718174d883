#pragma once

#include <cstdint>
#include <filesystem>

namespace hearth::tasks {

// The --max_seq_length that the model in `folder` was trained with, from its training_args.json; `otherwise`, which may
// be any number, without that file, without the key, or if it is null.
std::int64_t trained_length(const std::filesystem::path& folder, std::int64_t otherwise);

}  // namespace hearth::tasks
