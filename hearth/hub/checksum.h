#pragma once

#include <filesystem>
#include <string>

namespace hearth::hub {

// The id that Git gives to a file's contents: SHA-1 over "blob SIZE", a zero byte and the bytes.
std::string git_blob_id(const std::filesystem::path& file);

// Throws unless the file has the contents that its ETag stands for: SHA-256 of a file in the Hub's storage of large
// files, the id of Git for others. ETags of other forms say nothing about the contents. `name` is the file's in errors.
void check_contents(const std::filesystem::path& file, const std::string& etag, const std::string& name);

}  // namespace hearth::hub
