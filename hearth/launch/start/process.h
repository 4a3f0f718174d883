#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hearth/launch/place/placement.h"
#include "hearth/launch/start/variables.h"

namespace hearth::launch {

struct ProcessStart {
  std::vector<std::string> words;          // the program, looked up in PATH, and its arguments
  Variables environment;                   // added to the launcher's own
  std::optional<RankPlacement> placement;  // CPUs and memory to pin the process to; none: as the launcher
};

// Replaces the calling process. Throws an Error if the program cannot be started.
[[noreturn]] void become(const ProcessStart& start);

// Makes the kernel kill the calling process, also after exec, when its parent dies.
void end_with_parent();

// Starts a child that leads its own process group and that the kernel kills when the launcher dies. Its stdin is
// empty; `output` and `errors` become its stdout and stderr. `before` is called in the child, before exec. Throws an
// Error if the program cannot be started.
pid_t start_process(const ProcessStart& start, int output, int errors, const std::function<void()>& before = {});

// The output of a command on both streams; nothing if there is no such program.
std::optional<std::string> output_of(const std::vector<std::string>& words);

}  // namespace hearth::launch
