#pragma once

#include <filesystem>
#include <functional>
#include <vector>

namespace hearth::io {

// Fills a folder that gets its name only after `write` has returned; a failure leaves the former folder in place. Once
// this returns, the folder survives a power cut, if `write` used AtomicFile for its files.
void replace_folder(const std::filesystem::path& folder,
                    const std::function<void(const std::filesystem::path&)>& write);

// Removes folders of one parent. A process that dies within this leaves each of them whole under its name, or without
// a name. A folder that cannot be removed stays, with a warning.
void remove_folders(const std::vector<std::filesystem::path>& folders);

// Cleans up after a process that died within replace_folder or remove_folders, for the folders in `parent` that
// `belongs` accepts: a former folder gets its name back unless a new one has taken it, and what was not finished or was
// being removed is removed.
void finish_replacements(const std::filesystem::path& parent,
                         const std::function<bool(const std::filesystem::path&)>& belongs);

}  // namespace hearth::io
