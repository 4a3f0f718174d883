#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hearth::cpu {

std::size_t memory_total();      // of the machine
std::size_t memory_available();  // now, before the machine must swap
std::size_t memory_limit();      // that this process may use: the machine's with its swap, or its control group's

// "always", "madvise", "never", or "unknown" where the kernel does not say.
std::string transparent_huge_pages();

struct ProcessUsage {
  std::size_t peak_resident_bytes = 0;
  std::uint64_t minor_faults = 0, major_faults = 0;
};
ProcessUsage process_usage();

}  // namespace hearth::cpu
