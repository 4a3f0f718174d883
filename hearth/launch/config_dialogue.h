#pragma once

#include "hearth/launch/launch_config.h"
#include "hearth/launch/terminal_menu.h"

namespace hearth::launch {

// The questions of `accelerate config` for this machine, one process or several on CPUs, in the order of the guides
// that people follow. Questions of later versions come last; the end of the input answers them with their defaults,
// and is an Error before.
LaunchConfig ask_launch_config(Terminal& terminal);

}  // namespace hearth::launch
