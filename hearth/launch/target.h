#pragma once

#include <span>
#include <string>
#include <vector>

#include "hearth/launch/launch_options.h"

namespace hearth::launch {

// This program's own file.
std::string own_program();

// The command line of the target; `commands` are Hearth's own.
std::vector<std::string> target_command(const LaunchOptions& options, std::span<const std::string> commands);

// The same for a restart after `started` (seconds since 1970): from the last checkpoint that the run has written since
// into its --output_dir, where there is one.
std::vector<std::string> resumed(std::vector<std::string> command, std::int64_t started);

}  // namespace hearth::launch
