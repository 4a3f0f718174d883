#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hearth::launch {

// The hosts of a file for mpirun: one a line, '#' begins a comment, "host:4" and "host slots=4" are hosts too. A host
// whose name is not known here, and a file without any, are Errors.
std::vector<std::string> read_hostfile(const std::filesystem::path& path);

}  // namespace hearth::launch
