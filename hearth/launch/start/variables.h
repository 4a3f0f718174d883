#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hearth::launch {

// Environment variables that a process gets in addition to those of the launcher.
using Variables = std::vector<std::pair<std::string, std::string>>;

}  // namespace hearth::launch
