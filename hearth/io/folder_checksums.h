#pragma once

#include <filesystem>

// The file checksums.json of a folder: size and checksum of every other file in it and in its subfolders, so that a
// file that was cut, lost or changed is noticed when the folder is read.
namespace hearth::io {

inline constexpr const char* kChecksumsFile = "checksums.json";

void write_checksums(const std::filesystem::path& folder);
// Throws an Error that names the first file that is not as it was. A folder without checksums.json passes, and so do
// files that were added later.
void verify_checksums(const std::filesystem::path& folder);

}  // namespace hearth::io
