#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>

namespace hearth::cpu {

struct Topology;

// How many threads parallel_for uses from now on; 0 means OMP_NUM_THREADS or, without it, default_threads.
void set_num_threads(int count);
int num_threads();

// One a core that this process may use, and no more than its control group gives processor time for.
int default_threads(const Topology&);

std::string openmp_runtime();  // "libgomp.so.1, specification 201511"

namespace detail {

// Marks the thread as inside a task. There no library call may start threads of its own: sums would be split
// differently.
class TaskScope {
 public:
  TaskScope();
  ~TaskScope();
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;
  static bool inside();

 private:
  int threads_before_;
};

}  // namespace detail

// Runs task(0) ... task(count - 1), each on one thread, in any order. What a task computes must not depend on which
// thread runs it; then results are the same to the bit for any number of threads. A call from inside a task runs
// in place. The first exception is rethrown once all tasks have ended.
template <class Task>
void parallel_for(std::int64_t count, Task&& task) {
  if (count <= 0) return;
  std::exception_ptr failure;
  const auto guarded = [&](std::int64_t i) {
    try {
      task(i);
    } catch (...) {
#pragma omp critical(hearth_parallel_for)
      if (!failure) failure = std::current_exception();
    }
  };
  const int threads = static_cast<int>(std::min<std::int64_t>(count, num_threads()));
  if (detail::TaskScope::inside()) {
    for (std::int64_t i = 0; i < count; ++i) guarded(i);
  } else if (threads == 1) {
    const detail::TaskScope scope;
    for (std::int64_t i = 0; i < count; ++i) guarded(i);
  } else {
#pragma omp parallel num_threads(threads)
    {
      const detail::TaskScope scope;
#pragma omp for schedule(dynamic, 1)
      for (std::int64_t i = 0; i < count; ++i) guarded(i);
    }
  }
  if (failure) std::rethrow_exception(failure);
}

// Cuts [0, size) into chunks of a fixed length, which depend on nothing else, and runs chunk(begin, end) on each.
template <class Chunk>
void parallel_chunks(std::int64_t size, std::int64_t length, Chunk&& chunk) {
  parallel_for((size + length - 1) / length,
               [&](std::int64_t i) { chunk(i * length, std::min(size, (i + 1) * length)); });
}

}  // namespace hearth::cpu
