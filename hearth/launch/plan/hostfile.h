#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace hearth::launch {

// The hosts of a hostfile for mpirun: one per line, '#' begins a comment, "host:4" and "host slots=4" are accepted. A
// name that cannot be resolved, or a file without hosts, is an Error.
std::vector<std::string> read_hostfile(const std::filesystem::path& path);

// The same for a file's text, with another way to tell whether a host is known.
std::vector<std::string> parse_hostfile(const std::string& text, const std::string& file,
                                        const std::function<bool(const std::string& host)>& is_known_host);

}  // namespace hearth::launch
