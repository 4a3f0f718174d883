#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "hearth/base/api.h"

namespace hearth::cpu {

HEARTH_API std::size_t memory_total();      // of the machine
HEARTH_API std::size_t memory_available();  // now, before the machine must swap
HEARTH_API std::size_t memory_limit();  // of this process: the machine's memory and swap, or its control group's limit

// A limit of this process (RLIMIT_AS, ...); none if it is unlimited.
HEARTH_API std::optional<std::size_t> soft_limit(int resource);

HEARTH_API std::size_t oom_kills();  // processes that the kernel has ended for lack of memory since the machine started

// "always", "madvise", "never", or "unknown" if the kernel does not say.
HEARTH_API std::string transparent_huge_pages();

struct ProcessUsage {
  std::size_t peak_resident_bytes = 0;
  std::uint64_t minor_faults = 0, major_faults = 0;
};
HEARTH_API ProcessUsage process_usage();

HEARTH_API std::size_t address_space_bytes();  // of this process, now: what counts for RLIMIT_AS
HEARTH_API std::size_t data_bytes();           // of this process, now: what counts for RLIMIT_DATA
HEARTH_API std::size_t resident_bytes();       // of this process, now
HEARTH_API std::size_t peak_resident_bytes();  // of this process, since it started

// The peak of resident memory since this object was made; one such object at a time.
class HEARTH_API PeakMemory {
 public:
  PeakMemory();
  std::size_t bytes() const;

 private:
  std::size_t at_start_, peak_at_start_;
};

}  // namespace hearth::cpu
