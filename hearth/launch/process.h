#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hearth/launch/placement.h"
#include "hearth/launch/variables.h"

namespace hearth::launch {

struct ProcessStart {
  std::vector<std::string> words;  // the program, found as the shell finds it, and its arguments
  Variables environment;
  std::optional<RankPlacement> placement;  // cores to bind it to; unset: those of the launcher
};

// Replaces the calling process (exec). An Error if the program cannot be started.
[[noreturn]] void become(const ProcessStart& start);

// From now on the kernel kills the calling process, also after exec, when its parent dies.
void end_with_parent();

// Starts a child in its own process group. The kernel kills it when the launcher dies; it has no input, and writes to
// these descriptors. `before` is called in the child, before exec. An Error if the program cannot be started.
pid_t start_process(const ProcessStart& start, int output, int errors, const std::function<void()>& before = {});

// What a command prints on stdout and stderr; nothing if there is no such program.
std::optional<std::string> output_of(const std::vector<std::string>& words);

}  // namespace hearth::launch
