#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace hearth::cpu {

std::size_t memory_total();      // of the machine
std::size_t memory_available();  // now, before the machine must swap
std::size_t memory_limit();      // of this process: the machine's memory and swap, or its control group's limit

// A limit of this process (RLIMIT_AS, ...); none if it is unlimited.
std::optional<std::size_t> soft_limit(int resource);

std::size_t oom_kills();  // processes that the kernel has ended for lack of memory since the machine started

// "always", "madvise", "never", or "unknown" if the kernel does not say.
std::string transparent_huge_pages();

struct ProcessUsage {
  std::size_t peak_resident_bytes = 0;
  std::uint64_t minor_faults = 0, major_faults = 0;
};
ProcessUsage process_usage();

std::size_t address_space_bytes();  // of this process, now: what counts for RLIMIT_AS
std::size_t data_bytes();           // of this process, now: what counts for RLIMIT_DATA
std::size_t resident_bytes();       // of this process, now
std::size_t peak_resident_bytes();  // of this process, since it started

// The peak of resident memory since this object was made; one such object at a time.
class PeakMemory {
 public:
  PeakMemory();
  std::size_t bytes() const;

 private:
  std::size_t at_start_, peak_at_start_;
};

}  // namespace hearth::cpu
