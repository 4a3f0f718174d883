#pragma once

#include <cstddef>
#include <string_view>

namespace hearth::cpu {

// The memory that this process may still take for tensors, swap not counted.
struct MemoryRoom {
  std::size_t bytes = 0;
  std::string_view bound;  // what sets it: "this machine", "the control group", "`ulimit -v`"
};

// The processes of a host share its memory, and that of their control group, evenly.
MemoryRoom memory_room(int processes_of_host);

}  // namespace hearth::cpu
