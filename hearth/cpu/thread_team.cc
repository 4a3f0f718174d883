#include "hearth/cpu/thread_team.h"

#include <immintrin.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <string>

#include "hearth/base/environment.h"
#include "hearth/cpu/cgroup.h"
#include "hearth/cpu/thread_limits.h"

namespace hearth::cpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds kSpinAlone{20}, kSpin{200};
constexpr int kPausesBetweenLooks = 32;  // at the clock: 0.5 to 1.5 us
constexpr int kMostCrowdedYields = 20;

std::atomic<int> workers_awake = 0;  // of all teams of the process, and those called to wake
std::atomic<int> forks = 0;          // that lead from the first process to this one

void forget_the_parents_workers() {
  workers_awake = 0;
  ++forks;
}

int forks_so_far() {
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, forget_the_parents_workers);
  return forks;
}

std::chrono::nanoseconds time_to_spin() {
  static const std::string policy = environment("OMP_WAIT_POLICY");
  const auto is = [](const char* lower, const char* upper) { return policy == lower || policy == upper; };
  if (is("passive", "PASSIVE")) return std::chrono::nanoseconds(0);
  if (is("active", "ACTIVE")) return std::chrono::seconds(10);
  return kSpin;
}

int limited_by_quota(int processors) {
  const auto quota = cgroup_processors();
  return quota ? static_cast<int>(std::clamp<double>(std::ceil(*quota), 1, processors)) : processors;
}

// Not std::atomic::wait, which spins by rules of its own and counts waiters a second time.
void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  static_assert(sizeof word == sizeof value);
  syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

// Signals that the process receives while this lives reach other threads than those started meanwhile: the program's
// handlers run on threads that do not compute. Signals of faults stay: they belong to the thread that has the fault.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t signals;
    sigfillset(&signals);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) sigdelset(&signals, fault);
    pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

// No wake-up is lost, because the number and the count of sleepers are one word, whose changes have one order. Either a
// thread registers first: then the exchange returns a count above zero and wakes, and the kernel lets no thread sleep
// that expects another word than the one it finds. Or the number comes first: then the thread cannot register.
int TeamSignal::set(std::uint32_t number) {
  const std::uint32_t sleepers = word_.exchange(number, std::memory_order_acq_rel) % kStep;
  if (sleepers != 0) futex(word_, FUTEX_WAKE_PRIVATE, INT_MAX);
  return static_cast<int>(sleepers);
}

bool TeamSignal::register_sleeper(std::uint32_t number) {
  std::uint32_t word = word_.load(std::memory_order_acquire);
  while (number_in(word) != number)
    if (word_.compare_exchange_weak(word, word + 1, std::memory_order_acquire)) return true;
  return false;
}

void TeamSignal::sleep_until(std::uint32_t number) {
  std::uint32_t word;
  while (number_in(word = word_.load(std::memory_order_acquire)) != number) futex(word_, FUTEX_WAIT_PRIVATE, word);
}

ThreadTeam::ThreadTeam(int threads)
    : threads_(threads),
      forks_(forks_so_far()),
      spin_(time_to_spin()),
      places_(threads),
      processors_(limited_by_quota(places_.processors())),
      workers_(std::make_unique<Worker[]>(static_cast<std::size_t>(threads - 1))) {
  const SignalsBlocked blocked;
  for (int started = 0; started < threads - 1; ++started) {
    Worker& worker = workers_[static_cast<std::size_t>(started)];
    worker.team = this;
    worker.position = started + 1;
    if (pthread_create(&worker.thread, nullptr, &ThreadTeam::work, &worker) != 0) {
      end_workers(started);
      throw refused_threads(threads - 1, started);
    }
    ++workers_awake;
  }
}

ThreadTeam::~ThreadTeam() {
  if (is_of_this_process()) end_workers(threads_ - 1);
}

bool ThreadTeam::is_of_this_process() const { return forks_ == forks.load(std::memory_order_relaxed); }

void ThreadTeam::start_job(TeamJob job) {
  job_ = job;
  number_ += TeamSignal::kStep;
  if (const int woken = start_.set(number_); woken > 0) workers_awake += woken;
}

void ThreadTeam::run(TeamJob job) {
  start_job(job);
  job(0);
  for (Worker* worker = workers_.get(); worker != workers_.get() + threads_ - 1; ++worker)
    if (!spin_until(worker->finished, number_) && worker->finished.register_sleeper(number_))
      worker->finished.sleep_until(number_);
}

void ThreadTeam::end_workers(int count) {
  start_job(TeamJob());
  for (int i = 0; i < count; ++i) pthread_join(workers_[static_cast<std::size_t>(i)].thread, nullptr);
  workers_awake -= count;
}

void* ThreadTeam::work(void* given) {
  Worker& worker = *static_cast<Worker*>(given);
  ThreadTeam& team = *worker.team;
  pthread_setname_np(pthread_self(), "hearth compute");
  team.places_.bind(worker.position);
  for (std::uint32_t number = TeamSignal::kStep;; number += TeamSignal::kStep) {
    team.wait_as_worker(number);
    if (!team.job_) return nullptr;
    team.job_(worker.position);
    worker.finished.set(number);
  }
}

void ThreadTeam::wait_as_worker(std::uint32_t number) {
  if (spin_until(start_, number) || !start_.register_sleeper(number)) return;
  --workers_awake;  // the owner adds those that it wakes, before they run
  start_.sleep_until(number);
}

// The owner counts as awake: it computes or waits for its workers.
bool ThreadTeam::is_crowded() const { return workers_awake.load(std::memory_order_relaxed) + 1 > processors_; }

bool ThreadTeam::spin_until(const TeamSignal& signal, std::uint32_t number) const {
  if (signal.is(number)) return true;
  if (spin_ == spin_.zero()) return false;
  Clock::time_point begin{};
  for (int crowded_yields = 0; crowded_yields < kMostCrowdedYields;) {
    for (int i = 0; i < kPausesBetweenLooks; ++i) {
      if (signal.is(number)) return true;
      _mm_pause();
    }
    const Clock::time_point now = Clock::now();
    if (begin == Clock::time_point()) begin = now;
    if (now - begin >= spin_) return false;
    const bool crowded = is_crowded();
    crowded_yields += crowded;
    if (crowded || now - begin >= kSpinAlone) sched_yield();
  }
  return false;
}

}  // namespace hearth::cpu
