#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hearth::cpu {

inline constexpr std::size_t kAlignment = 64;

// Memory for tensors: one large reservation of address space, handed out first-fit from the low end, so that a
// training step that frees what it took finds the same pages again: no system call and no page fault in the steady
// state. Huge pages where the system allows them. Thread-safe.
void* pool_allocate(std::size_t bytes);  // aligned to kAlignment; never null (throws Error when memory is out)
void pool_free(void* data) noexcept;

struct PoolStats {
  std::size_t in_use_bytes = 0, peak_bytes = 0;
  std::size_t limit_bytes = 0;                 // in_use_bytes never exceeds it
  std::size_t high_water_bytes = 0;            // the highest end of a block so far, holes between blocks included
  std::uint64_t allocations = 0, growths = 0;  // growths: how often the system was asked for more
};
PoolStats pool_stats();

// A ResourceError unless the system would give this process so much memory beside the pool. For libraries that crash
// where memory is refused; `purpose` completes "no memory for".
void check_memory_for(std::string_view purpose, std::size_t bytes);

}  // namespace hearth::cpu
