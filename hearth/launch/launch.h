#pragma once

#include <span>
#include <string>

#include "hearth/launch/plan/launch_options.h"

namespace hearth::launch {

struct LaunchEnd {
  int status = 0;       // of the rank that failed first
  std::string failure;  // which rank failed, how, and its last lines; or that the job was stopped and can be resumed
};

// Runs `hearth launch`. `commands` are the names of Hearth's own commands. If one process is to run, or another
// launcher has started this one, the target replaces this process (exec).
LaunchEnd launch(const LaunchOptions& options, std::span<const std::string> commands);

}  // namespace hearth::launch
