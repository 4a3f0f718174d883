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
  std::optional<RankPlacement> placement;  // what it is bound to; nothing: what the launcher is bound to
};

// Replaces the calling process. An Error where the program cannot be started.
[[noreturn]] void become(const ProcessStart& start);

// From now on the kernel kills the calling process, whatever it becomes, when its parent dies.
void end_with_parent();

// A child in a process group of its own, which the kernel kills when the launcher dies; it reads nothing, and writes
// to these descriptors. `before` is called in the child, before it becomes the program. An Error where the program
// cannot be started.
pid_t start_process(const ProcessStart& start, int output, int errors, const std::function<void()>& before = {});

// What a command prints on both streams; nothing where there is no such program.
std::optional<std::string> output_of(const std::vector<std::string>& words);

}  // namespace hearth::launch
