#pragma once

#include <span>
#include <string>

#include "hearth/launch/launch_options.h"

namespace hearth::launch {

struct LaunchEnd {
  int status = 0;       // the failing rank's
  std::string failure;  // which rank failed, how, and its last lines
};

// Runs what `hearth launch` was asked for. `commands` are the names of Hearth's own commands. A single process, and one
// in an existing world, takes this process's place.
LaunchEnd launch(const LaunchOptions& options, std::span<const std::string> commands);

}  // namespace hearth::launch
