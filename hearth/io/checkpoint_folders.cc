#include "hearth/io/checkpoint_folders.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <system_error>

#include "hearth/base/whole_number.h"

namespace hearth::io {
namespace {

constexpr std::string_view kPrefix = "checkpoint-";

}  // namespace

std::string checkpoint_name(std::int64_t step) { return fmt::format("{}{}", kPrefix, step); }

std::optional<std::int64_t> checkpoint_step(const std::filesystem::path& folder) {
  const std::string name = folder.filename().string();
  if (!name.starts_with(kPrefix)) return std::nullopt;
  return whole_number<std::int64_t>(std::string_view(name).substr(kPrefix.size()), 0);
}

std::vector<std::filesystem::path> list_checkpoints(const std::filesystem::path& output_dir) {
  std::vector<std::filesystem::path> folders;
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator(output_dir, unreadable))
    if (checkpoint_step(entry.path()) && entry.is_directory(unreadable)) folders.push_back(entry.path());
  std::ranges::sort(folders, {}, checkpoint_step);
  return folders;
}

std::optional<std::filesystem::path> last_checkpoint(const std::filesystem::path& output_dir) {
  const std::vector<std::filesystem::path> folders = list_checkpoints(output_dir);
  return folders.empty() ? std::nullopt : std::optional(folders.back());
}

}  // namespace hearth::io
