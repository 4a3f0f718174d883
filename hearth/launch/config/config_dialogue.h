#pragma once

#include "hearth/launch/config/launch_config.h"
#include "hearth/launch/config/terminal_menu.h"

namespace hearth::launch {

// Asks the questions of `accelerate config` for training on CPUs, in the order of the older guides. Questions of later
// versions come last: if the input ends there, they get their defaults; before, the end of the input is an Error.
LaunchConfig ask_launch_config(Terminal& terminal);

}  // namespace hearth::launch
