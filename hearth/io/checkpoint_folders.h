#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

// The layout of checkpoints: folders checkpoint-N in the output_dir of a run, where N is the number of its steps so
// far.
namespace hearth::io {

std::string checkpoint_name(std::int64_t step);
std::optional<std::int64_t> checkpoint_step(const std::filesystem::path& folder);  // none: not a checkpoint's name

// Sorted by step; none if there is no such folder.
std::vector<std::filesystem::path> list_checkpoints(const std::filesystem::path& output_dir);
std::optional<std::filesystem::path> last_checkpoint(const std::filesystem::path& output_dir);

}  // namespace hearth::io
