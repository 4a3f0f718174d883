#pragma once

#include <span>
#include <string>
#include <vector>

#include "hearth/launch/plan/launch_options.h"

namespace hearth::launch {

// The path of this program.
std::string own_program();

// The command line of the target; `commands` are the names of Hearth's own commands.
std::vector<std::string> target_command(const LaunchOptions& options, std::span<const std::string> commands);

// The command line for a restart: `command`, and --resume_from_checkpoint True if the run wrote a checkpoint into its
// --output_dir after `started` (seconds since 1970).
std::vector<std::string> resumed(std::vector<std::string> command, std::int64_t started);

}  // namespace hearth::launch
