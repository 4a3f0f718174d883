#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hearth::launch {

// The hosts of a hostfile for mpirun: one per line, '#' begins a comment, "host:4" and "host slots=4" are accepted. A
// name that cannot be resolved, or a file without hosts, is an Error.
std::vector<std::string> read_hostfile(const std::filesystem::path& path);

}  // namespace hearth::launch
