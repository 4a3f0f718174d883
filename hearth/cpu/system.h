#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hearth::cpu {

std::size_t memory_total();      // of the machine
std::size_t memory_available();  // now, before the machine must swap
std::size_t memory_limit();      // of this process: the machine's memory and swap, or its control group's limit

// "always", "madvise", "never", or "unknown" if the kernel does not say.
std::string transparent_huge_pages();

struct ProcessUsage {
  std::size_t peak_resident_bytes = 0;
  std::uint64_t minor_faults = 0, major_faults = 0;
};
ProcessUsage process_usage();

}  // namespace hearth::cpu
