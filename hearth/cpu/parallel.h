#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>

namespace hearth::cpu {

// How many threads parallel_for uses from now on; 0 means one a core that this process may run on.
void set_num_threads(int count);
int num_threads();

namespace detail {

// Inside a task no library call may start threads of its own: sums would be split differently.
class SerialScope {
 public:
  SerialScope() : saved_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~SerialScope() { omp_set_num_threads(saved_); }
  SerialScope(const SerialScope&) = delete;
  SerialScope& operator=(const SerialScope&) = delete;

 private:
  int saved_;
};

}  // namespace detail

// Runs task(0) ... task(count - 1), each on one thread, in any order. What a task computes must not depend on which
// thread runs it; then results are the same to the bit for any number of threads. A call from inside a task runs
// in place. The first exception is rethrown once all tasks have ended.
template <class Task>
void parallel_for(std::int64_t count, Task&& task) {
  if (count <= 0) return;
  const int threads = static_cast<int>(std::min<std::int64_t>(count, num_threads()));
  if (threads == 1 || omp_in_parallel()) {
    const detail::SerialScope serial;
    for (std::int64_t i = 0; i < count; ++i) task(i);
    return;
  }
  std::exception_ptr failure;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (std::int64_t i = 0; i < count; ++i) {
    try {
      task(i);
    } catch (...) {
#pragma omp critical(hearth_parallel_for)
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

// Cuts [0, size) into chunks of a fixed length, which depend on nothing else, and runs chunk(begin, end) on each.
template <class Chunk>
void parallel_chunks(std::int64_t size, std::int64_t length, Chunk&& chunk) {
  parallel_for((size + length - 1) / length, [&](std::int64_t i) {
    chunk(i * length, std::min(size, (i + 1) * length));
  });
}

}  // namespace hearth::cpu
