#include "hearth/cpu/memory.h"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <new>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/base/rounding.h"
#include "hearth/cpu/system.h"

namespace hearth::cpu {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kCommitStep = std::size_t{64} << 20;
constexpr std::size_t kLeastReservation = std::size_t{32} << 20;

[[noreturn]] void fail_out_of_memory(std::size_t wanted, std::size_t in_use, std::size_t limit) {
  throw ResourceError(
      fmt::format("[memory] out of memory: {} bytes requested with {} in use, and the limit of this process is {}; use "
                  "a smaller batch or shorter sequences",
                  wanted, in_use, limit));
}

// The header of a block, in the kAlignment bytes before the caller's memory.
struct alignas(kAlignment) Header {
  std::size_t block_bytes;
};

struct Reservation {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

// Free blocks may lie between blocks in use, so the reservation is several times what can be in use. Under `ulimit -v`
// it is half of what is left, so that threads and libraries get memory too.
Reservation reserve_address_space() {
  std::size_t bytes = 4 * memory_limit();
  if (const auto limit = soft_limit(RLIMIT_AS))
    bytes = std::min(bytes, (*limit - std::min(*limit, address_space_bytes())) / 2);
  for (bytes = round_up(bytes, kHugePage); bytes >= kLeastReservation; bytes = round_up(bytes / 2, kHugePage)) {
    void* const range = mmap(nullptr, bytes + kHugePage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) continue;
    const auto address = reinterpret_cast<std::uintptr_t>(range);
    return {reinterpret_cast<std::byte*>(round_up(address, kHugePage)), bytes};
  }
  throw ResourceError("[memory] the system refuses address space for tensors; raise `ulimit -v`");
}

class ReservedPool {
 public:
  void* allocate(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const std::size_t block_bytes = block_size(std::min(bytes, limit_));
    if (block_bytes > limit_ - stats_.in_use_bytes) fail_out_of_memory(bytes, stats_.in_use_bytes, limit_);
    // No two free blocks touch, so this capacity is enough and freeing never allocates.
    if (free_.capacity() < live_ + 2) free_.reserve(2 * (live_ + 2));
    std::byte* const block = take(block_bytes);
    if (block == nullptr) fail_out_of_memory(bytes, stats_.in_use_bytes, limit_);
    ++live_;
    ++stats_.allocations;
    stats_.in_use_bytes += block_bytes;
    stats_.peak_bytes = std::max(stats_.peak_bytes, stats_.in_use_bytes);
    return new (block) Header{block_bytes} + 1;
  }

  void free(void* data) {
    const std::lock_guard lock(mutex_);
    const Header* const header = static_cast<Header*>(data) - 1;
    const std::size_t block_bytes = header->block_bytes;
    --live_;
    stats_.in_use_bytes -= block_bytes;
    give_back(static_cast<std::size_t>(reinterpret_cast<const std::byte*>(header) - range_.data), block_bytes);
  }

  PoolStats stats() {
    const std::lock_guard lock(mutex_);
    PoolStats result = stats_;
    result.limit_bytes = limit_;
    return result;
  }

 private:
  struct Block {
    std::size_t begin, bytes;  // begin: from the start of the range
    std::size_t end() const { return begin + bytes; }
  };

  // Large blocks are an odd number of cache lines longer than whole pages. Otherwise neighbours of one size would begin
  // at the same offset in a page: loads from one would wait for stores to the other, and both would share cache sets.
  static std::size_t block_size(std::size_t bytes) {
    constexpr std::size_t page = 4096, large = 64 * page;
    if (bytes < large) return sizeof(Header) + round_up(bytes, kAlignment);
    return round_up(sizeof(Header) + bytes, page) + 5 * kAlignment;
  }

  std::byte* take(std::size_t bytes) {
    const auto fit = std::find_if(free_.begin(), free_.end(), [&](const Block& block) { return block.bytes >= bytes; });
    if (fit != free_.end()) {
      std::byte* const block = range_.data + fit->begin;
      *fit = {fit->begin + bytes, fit->bytes - bytes};
      if (fit->bytes == 0) free_.erase(fit);
      return block;
    }
    const bool last_is_at_end = !free_.empty() && free_.back().end() == used_end_;
    const std::size_t begin = last_is_at_end ? free_.back().begin : used_end_;
    if (bytes > range_.bytes - begin || !commit(begin + bytes)) return nullptr;
    if (last_is_at_end) free_.pop_back();
    used_end_ = begin + bytes;
    stats_.high_water_bytes = used_end_;
    return range_.data + begin;
  }

  bool commit(std::size_t end) {
    if (end <= committed_end_) return true;
    std::byte* const data = range_.data + committed_end_;
    const std::size_t wanted = round_up(std::max(end, committed_end_ + committed_end_ / 8), kCommitStep);
    const std::size_t bytes = std::min(wanted, range_.bytes) - committed_end_;
    if (mprotect(data, bytes, PROT_READ | PROT_WRITE) != 0) return false;
    madvise(data, bytes, MADV_HUGEPAGE);
    committed_end_ += bytes;
    ++stats_.growths;
    return true;
  }

  void give_back(std::size_t begin, std::size_t bytes) {
    const auto next =
        std::partition_point(free_.begin(), free_.end(), [&](const Block& block) { return block.begin < begin; });
    const bool joins_next = next != free_.end() && begin + bytes == next->begin;
    const bool joins_previous = next != free_.begin() && std::prev(next)->end() == begin;
    if (joins_previous) {
      std::prev(next)->bytes += bytes + (joins_next ? next->bytes : 0);
      if (joins_next) free_.erase(next);
    } else if (joins_next) {
      *next = {begin, bytes + next->bytes};
    } else {
      free_.insert(next, {begin, bytes});
    }
  }

  std::mutex mutex_;
  const Reservation range_ = reserve_address_space();
  const std::size_t limit_ = std::min(memory_limit(), range_.bytes);
  std::vector<Block> free_;        // below used_end_, lowest first
  std::size_t used_end_ = 0;       // the high-water mark
  std::size_t committed_end_ = 0;  // readable and writable below
  std::size_t live_ = 0;
  PoolStats stats_;
};

// Under a sanitizer every tensor is its own heap block, so that the sanitizer sees its bounds and lifetime.
class HeapPool {
 public:
  void* allocate(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    void* const data =
        bytes > memory_limit() ? nullptr : ::operator new (bytes, std::align_val_t{kAlignment}, std::nothrow);
    if (data == nullptr) fail_out_of_memory(bytes, stats_.in_use_bytes, memory_limit());
    ++stats_.allocations;
    stats_.in_use_bytes += malloc_usable_size(data);
    if (stats_.in_use_bytes > stats_.peak_bytes) {
      stats_.peak_bytes = stats_.high_water_bytes = stats_.in_use_bytes;
      ++stats_.growths;
    }
    return data;
  }

  void free(void* data) {
    const std::lock_guard lock(mutex_);
    stats_.in_use_bytes -= malloc_usable_size(data);
    ::operator delete (data, std::align_val_t{kAlignment});
  }

  PoolStats stats() {
    const std::lock_guard lock(mutex_);
    PoolStats result = stats_;
    result.limit_bytes = memory_limit();
    return result;
  }

 private:
  std::mutex mutex_;
  PoolStats stats_;
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
using Pool = HeapPool;
#else
using Pool = ReservedPool;
#endif

Pool& pool() {
  static Pool& instance = *new Pool;  // outlives tensors that are static themselves
  return instance;
}

}  // namespace

void* pool_allocate(std::size_t bytes) { return pool().allocate(bytes); }

void pool_free(void* data) noexcept {
  if (data != nullptr) pool().free(data);
}

PoolStats pool_stats() { return pool().stats(); }

void check_memory_for(std::string_view purpose, std::size_t bytes) {
  void* const range = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED)
    throw ResourceError(
        fmt::format("[memory] out of memory: the system refuses {} MiB for {}; raise `ulimit -v`, or use fewer threads",
                    bytes >> 20, purpose));
  munmap(range, bytes);
}

}  // namespace hearth::cpu
