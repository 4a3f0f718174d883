#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hearth/base/rounding.h"
#include "hearth/cpu/thread_team.h"

namespace hearth::cpu {

struct Topology;

// Sets the number of threads of parallel_for. 0: OMP_NUM_THREADS or, if that is unset, default_threads().
void set_num_threads(int count);
inline constexpr int kMostThreads = 4096;  // the highest number that users may ask for
int num_threads();

// One thread per core that this process may use, limited by the CPU quota of its control group.
int default_threads(const Topology&);

std::string openmp_runtime();  // "libgomp.so.1, specification 201511"

namespace detail {

// Runs body(position) for the positions 0, which is the calling thread, to threads - 1, each on a thread of its own:
// the calling thread's team, which is made at the first call, and made anew when `threads` changes or the process was
// forked. A ResourceError if the system refuses so many threads. body must not throw.
void run_team(int threads, TeamJob body);
// Whether the calling thread has ended its team because it ends itself, or its process does. Then it computes alone.
bool team_has_ended();

// Marks the thread as inside a task, where library calls must not start threads of their own: sums would be split
// differently and the bits would change.
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

// Static blocks plus work stealing: for a given task count each thread always starts with the same contiguous block of
// each loop, so its data is still in that core's cache; threads that finish early steal from the others.
class TaskShares {
 public:
  // The calling thread's instance, reset for loops of so many tasks.
  static TaskShares& of(std::span<const std::int64_t> counts, int threads);

  // Called by every thread of the team, with its position.
  template <class Task>
  void run(int position, const Task& task) {
    const std::size_t first = static_cast<std::size_t>(position);
    for (std::size_t i = 0; i < threads_; ++i)
      for (std::size_t loop = 0; loop < loops_; ++loop) {
        Share& share = shares_[loop * threads_ + (first + i) % threads_];
        while (share.next.load(std::memory_order_relaxed) < share.end) {
          const std::int64_t next = share.next.fetch_add(1, std::memory_order_relaxed);
          if (next < share.end) task(loop, next);
        }
      }
  }

 private:
  struct alignas(64) Share {
    std::atomic<std::int64_t> next = 0;
    std::int64_t end = 0;
  };

  std::size_t loops_ = 0, threads_ = 0;
  std::vector<Share> shares_;  // (loops, threads), or more
};

}  // namespace detail

// Runs task(loop, 0) ... task(loop, counts[loop] - 1) for every loop, each on one thread, in any order; a thread begins
// with its share of each loop, in the order of the loops. The result of a task must not depend on the thread that runs
// it; then results have the same bits for any number of threads. A call from inside a task runs in place, on that
// thread. The first exception is rethrown once all tasks have ended. Several threads may call it at the same time: each
// has compute threads of its own, which then share the cores.
template <class Task>
void parallel_loops(std::span<const std::int64_t> counts, Task&& task) {
  std::int64_t total = 0;
  for (const std::int64_t count : counts) total += std::max<std::int64_t>(0, count);
  if (total == 0) return;
  std::exception_ptr failure;
  std::once_flag failed;
  const auto guarded = [&](std::size_t loop, std::int64_t i) {
    try {
      task(loop, i);
    } catch (...) {
      std::call_once(failed, [&] { failure = std::current_exception(); });
    }
  };
  const auto run_in_place = [&] {
    for (std::size_t loop = 0; loop < counts.size(); ++loop)
      for (std::int64_t i = 0; i < counts[loop]; ++i) guarded(loop, i);
  };
  // Always use all threads: another number would be another team, and the threads would lose their scratch.
  const int threads = num_threads();
  if (detail::TaskScope::inside()) {
    run_in_place();
  } else if (threads == 1 || total == 1 || detail::team_has_ended()) {
    const detail::TaskScope scope;
    run_in_place();
  } else {
    detail::TaskShares& shares = detail::TaskShares::of(counts, threads);
    const auto body = [&](int position) {
      const detail::TaskScope scope;
      shares.run(position, guarded);
    };
    detail::run_team(threads, TeamJob(body));
  }
  if (failure) std::rethrow_exception(failure);
}

// The same for a single loop: task(0) ... task(count - 1).
template <class Task>
void parallel_for(std::int64_t count, Task&& task) {
  parallel_loops(std::span(&count, 1), [&](std::size_t, std::int64_t i) { task(i); });
}

// Cuts [0, size) into chunks of `length`, whatever the number of threads, and runs chunk(begin, end) on each.
template <class Chunk>
void parallel_chunks(std::int64_t size, std::int64_t length, Chunk&& chunk) {
  parallel_for(divide_up(size, length), [&](std::int64_t i) { chunk(i * length, std::min(size, (i + 1) * length)); });
}

}  // namespace hearth::cpu
