#pragma once

#include "hearth/io/json.h"

namespace hearth::apps {

// This machine and this build: processor, memory, libraries, and the environment variables that are set, without
// private ones.
io::Json describe_machine();

}  // namespace hearth::apps
