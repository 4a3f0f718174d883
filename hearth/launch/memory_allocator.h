#pragma once

#include <string_view>

#include "hearth/launch/decisions.h"
#include "hearth/launch/variables.h"

namespace hearth::launch {

// LD_PRELOAD for tcmalloc or jemalloc. `auto` takes the first that is installed, otherwise the system's malloc.
Variables allocator_settings(std::string_view choice, Decisions& decisions);

}  // namespace hearth::launch
