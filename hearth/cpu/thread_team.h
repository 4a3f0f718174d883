// Compute threads. A step of a small model has hundreds of parallel regions, so starting and ending a region must take
// about a microsecond; GNU OpenMP takes 6 to 9 on 16 cores.
//
// Terms:
//   team      the thread that owns it, at position 0, and its workers, at positions 1 to threads - 1.
//   job       a function that every position runs once. run() is one job, a parallel region.
//   number    of a job: a multiple of TeamSignal::kStep, in the order of the jobs, modulo 2^32.
//   signal    a number that one thread sets and others wait for, on a cache line of its own.
//   crowded   the threads of all teams of the process that are awake, or called, are more than the team has processors.
//
// Algorithm: the team has one signal that starts jobs, and each worker has one that says which job it has finished. The
// owner writes the job down and sets the start signal to the job's number; the workers, which wait for that number, run
// the job and set their signals to it; the owner runs its own part and waits for all of them. Each worker takes part in
// each job, so nobody writes down a job while a worker reads the one before, and no number is passed over.
//
// Waiting threads spin, because the next region of a step comes soon, and sleep after kSpin, so that an idle program
// uses no processor time. A spinning thread may hold the processor of the very thread that it waits for: beside other
// programs the system often gives both the same one. After kSpinAlone it therefore yields between its looks, which
// costs a fraction of a microsecond if nobody else wants to run. Where the team is crowded, it yields at once and
// sleeps after a few times. The environment variable OMP_WAIT_POLICY changes that: `passive` never spins, `active`
// spins for seconds.

#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "hearth/cpu/thread_places.h"

namespace hearth::cpu {

// A function of the position in the team, which it refers to without owning it. It must not throw.
class TeamJob {
 public:
  TeamJob() = default;
  template <class Function>
  explicit TeamJob(const Function& function)
      : function_(&function),
        call_([](const void* given, int position) noexcept { (*static_cast<const Function*>(given))(position); }) {}

  void operator()(int position) const { call_(function_, position); }
  explicit operator bool() const { return call_ != nullptr; }

 private:
  const void* function_ = nullptr;
  void (*call_)(const void*, int) noexcept = nullptr;
};

class TeamSignal {
 public:
  static constexpr std::uint32_t kStep = 1 << 13;  // from number to number; the rest of the word counts sleepers

  // Everything before set(number) happens before everything after is(number) and sleep_until(number). Returns how many
  // threads it wakes.
  int set(std::uint32_t number);
  bool is(std::uint32_t number) const { return number_in(word_.load(std::memory_order_acquire)) == number; }
  // A thread that wants to sleep until `number` comes calls both, and sleeps only if the first succeeds: it fails if
  // the number has come already.
  bool register_sleeper(std::uint32_t number);
  void sleep_until(std::uint32_t number);

 private:
  static std::uint32_t number_in(std::uint32_t word) { return word / kStep * kStep; }

  std::atomic<std::uint32_t> word_ = 0;
};

class ThreadTeam {
 public:
  // Starts the workers; a ResourceError if the system refuses one. They have the CPU mask of the calling thread, or the
  // places that OpenMP's variables give them (thread_places.h). Signals to the process never interrupt them.
  explicit ThreadTeam(int threads);
  // Ends the workers. Not while run() runs.
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int threads() const { return threads_; }
  // False in a process that was forked after the team was made: the workers do not exist there. Such a team can only be
  // destroyed.
  bool is_of_this_process() const;

  // Runs job(0) on the calling thread and job(1) ... job(threads - 1) on the workers, and returns when all have ended.
  // The thread that made the team calls it.
  void run(TeamJob job);

 private:
  static constexpr std::size_t kLine = 64;  // bytes of a cache line
  struct alignas(kLine) Worker {
    TeamSignal finished;
    ThreadTeam* team = nullptr;
    int position = 0;
    pthread_t thread{};
  };

  static void* work(void* worker);
  void start_job(TeamJob job);
  void end_workers(int count);
  void wait_as_worker(std::uint32_t number);
  bool spin_until(const TeamSignal& signal, std::uint32_t number) const;
  bool is_crowded() const;

  const int threads_, forks_;
  const std::chrono::nanoseconds spin_;
  const ThreadPlaces places_;
  const int processors_;
  const std::unique_ptr<Worker[]> workers_;  // of the positions 1 to threads - 1
  alignas(kLine) TeamSignal start_;          // workers fetch the job with its number
  TeamJob job_;
  std::uint32_t number_ = 0;  // of the last job
};

}  // namespace hearth::cpu
