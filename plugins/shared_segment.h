#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "plugins/backend.h"

// Memory that the ranks of one host have in common. It has no name in any folder: one rank makes it, the others open it
// through that process's entry in /proc, and it is gone when the last of them has ended, however that came about.
namespace hearth::plugins {

// Where the other ranks find a segment: plain bytes, to be sent.
struct SegmentAddress {
  std::int64_t process = 0, descriptor = -1;
  std::uint64_t bytes = 0;
  std::uint64_t device = 0, file = 0;  // of the segment: another process may have got the number since
};

// A segment that this rank made, until the others have opened it.
class NewSegment {
 public:
  explicit NewSegment(std::size_t bytes);
  ~NewSegment();
  NewSegment(const NewSegment&) = delete;
  NewSegment& operator=(const NewSegment&) = delete;

  const SegmentAddress& address() const { return address_; }
  void* memory() const { return memory_; }  // stays when the NewSegment ends, until unmap()

 private:
  SegmentAddress address_;
  void* memory_ = nullptr;
};

// The memory of a segment that another rank made.
void* open_segment(const SegmentAddress& address);
void unmap(void* memory, std::size_t bytes);

// A barrier in shared memory; zeros at first. Whoever waits spins for some microseconds and then sleeps.
struct alignas(64) Meeting {
  std::atomic<std::uint32_t> here;
  alignas(64) std::atomic<std::uint32_t> round;
  std::atomic<std::uint32_t> asleep;

  void wait_for_all(const World& world);  // throws when the job gives up
};

}  // namespace hearth::plugins
