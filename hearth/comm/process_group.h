#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "hearth/base/api.h"
#include "hearth/base/dtype.h"

namespace hearth::comm {

enum class ReduceOp : std::uint8_t { sum, prod, min, max, avg };

// An operation under way. It owns its buffers until wait() has returned.
class HEARTH_API Work {
 public:
  virtual ~Work() = default;
  virtual bool done() const = 0;
  // Throws Error if the operation failed or timed out. The message names the operation and the rank at fault, if known.
  virtual void wait() = 0;
};
using WorkPtr = std::shared_ptr<Work>;

// Ranks that exchange data; operations are named as in PyTorch's c10d. Each call returns at once; operations run in the
// order they were started, which must be the same on every rank. Counts are in elements of `type`; zero is allowed.
// bf16 and f16 are summed in f32 in the order of ranks and rounded once.
class HEARTH_API ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual std::string_view backend() const = 0;  // self, threads, gloo, shm, mpi, ccl
  // Whether operations leave time to compute to a rank that has a single hardware thread and shares its host with all
  // others.
  virtual bool overlaps_without_threads() const = 0;

  // In place: every rank ends with the same bits.
  virtual WorkPtr all_reduce(void* data, std::size_t count, DType type, ReduceOp op = ReduceOp::sum) = 0;
  virtual WorkPtr reduce(void* data, std::size_t count, DType type, ReduceOp op, int root) = 0;
  virtual WorkPtr broadcast(void* data, std::size_t count, DType type, int root) = 0;
  // `count` is the size of one rank's part; `whole` has size() * count elements. In place is allowed:
  // part == whole + rank * count.
  virtual WorkPtr all_gather(const void* part, void* whole, std::size_t count, DType type) = 0;
  virtual WorkPtr gather(const void* part, void* whole, std::size_t count, DType type, int root) = 0;
  virtual WorkPtr scatter(const void* whole, void* part, std::size_t count, DType type, int root) = 0;
  virtual WorkPtr reduce_scatter(const void* whole, void* part, std::size_t count, DType type, ReduceOp op) = 0;
  virtual WorkPtr all_to_all(const void* in, void* out, std::size_t count, DType type) = 0;
  virtual WorkPtr send(const void* data, std::size_t count, DType type, int to, int tag = 0) = 0;
  virtual WorkPtr recv(void* data, std::size_t count, DType type, int from, int tag = 0) = 0;
  virtual WorkPtr barrier() = 0;

  // Whether share() gives memory.
  virtual bool shares_memory() const = 0;
  // Memory that all ranks read and write: `bytes` zeros, at an address of its own in each rank, until the last rank has
  // dropped it. Null if the ranks cannot share memory. Every rank must call it, with the same size.
  virtual std::shared_ptr<std::byte> share(std::size_t bytes) = 0;

  // Says why this rank is about to leave although the others still need it: their error will repeat the sentence.
  virtual void report_failure(const std::string& sentence) = 0;
};

}  // namespace hearth::comm
