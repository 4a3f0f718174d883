#pragma once

#include <array>
#include <string_view>

#include "hearth/base/enum_names.h"
#include "hearth/launch/plan/decisions.h"
#include "hearth/launch/start/variables.h"

namespace hearth::launch {

// automatic: the first that is installed. standard: the system's malloc.
enum class MemoryAllocator { automatic, standard, tcmalloc, jemalloc };
constexpr std::array<std::string_view, 4> names_of(MemoryAllocator) {
  return {"auto", "default", "tcmalloc", "jemalloc"};
}

// LD_PRELOAD for tcmalloc or jemalloc; nothing for the system's malloc.
Variables allocator_settings(MemoryAllocator choice, Decisions& decisions);

}  // namespace hearth::launch
