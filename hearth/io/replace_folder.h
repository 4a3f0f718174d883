#pragma once

#include <filesystem>
#include <functional>

namespace hearth::io {

// Fills a folder that gets its name only after `write` has returned; a failure leaves the former folder in place. Once
// this returns, the folder survives a power cut, if `write` used AtomicFile for its files.
void replace_folder(const std::filesystem::path& folder,
                    const std::function<void(const std::filesystem::path&)>& write);

// Cleans up after a process that died within replace_folder, for the folders in `parent` that `belongs` accepts: a
// former folder gets its name back unless a new one has taken it, and unfinished ones are removed.
void finish_replacements(const std::filesystem::path& parent,
                         const std::function<bool(const std::filesystem::path&)>& belongs);

// A folder that cannot be removed stays, with a warning.
void remove_or_warn(const std::filesystem::path& folder);

}  // namespace hearth::io
