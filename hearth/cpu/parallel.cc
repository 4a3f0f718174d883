#include "hearth/cpu/parallel.h"

#include <dlfcn.h>
#include <omp.h>
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>

#include "hearth/base/check.h"
#include "hearth/base/environment.h"
#include "hearth/base/profiler.h"
#include "hearth/cpu/thread_check.h"
#include "hearth/cpu/topology.h"

namespace hearth::cpu {
namespace {

const int kOpenMpThreads = omp_get_max_threads();  // before any task lowers it
std::atomic<int> configured = 0;
thread_local bool inside_task = false;

}  // namespace

void set_num_threads(int count) {
  check(count >= 0, "[set_num_threads] the number of threads must not be negative, got {}", count);
  configured = count;
}

int num_threads() {
  static const int otherwise = environment("OMP_NUM_THREADS").empty() ? default_threads(topology()) : kOpenMpThreads;
  const int count = configured.load(std::memory_order_relaxed);
  return count > 0 ? count : otherwise;
}

int default_threads(const Topology& topology) {
  if (!topology.processor_quota) return topology.usable_cores;
  return static_cast<int>(std::clamp<double>(std::ceil(*topology.processor_quota), 1, topology.usable_cores));
}

std::string openmp_runtime() {
  Dl_info library{};
  const void* const function = dlsym(RTLD_DEFAULT, "omp_get_max_threads");  // a preloaded runtime comes first
  const bool found = function != nullptr && dladdr(function, &library) != 0;
  return fmt::format("{}, specification {}",
                     found ? std::filesystem::path(library.dli_fname).filename().string() : "linked in", _OPENMP);
}

namespace detail {

void expect_threads(int threads) {
  static std::atomic<int> most = 1;  // that are known to start
  if (threads <= most.load(std::memory_order_relaxed)) return;
  check_threads(threads - 1);  // the calling thread is one of the team
  most = threads;
}

// GNU OpenMP does not tell the thread sanitizer that a team starts after everything before the region and ends before
// everything after it. A sanitizer build tells it here; no_sanitize covers the data that the compiler itself passes to
// the threads.
#ifdef __SANITIZE_THREAD__
__attribute__((no_sanitize("thread"))) static void start_team(int threads, const std::function<void()>& body) {
  char begin, end;
  __tsan_release(&begin);
#pragma omp parallel num_threads(threads)
  {
    __tsan_acquire(&begin);
    body();
    __tsan_release(&end);
  }
  __tsan_acquire(&end);
}
#elif defined(__clang__)  // clang's pragma needs LLVM's runtime, a second one beside that of oneDNN
extern "C" void GOMP_parallel(void (*body)(void*), void* argument, unsigned threads, unsigned flags);

static void start_team(int threads, const std::function<void()>& body) {
  const auto call = [](void* given) { (*static_cast<const std::function<void()>*>(given))(); };
  GOMP_parallel(call, const_cast<std::function<void()>*>(&body), static_cast<unsigned>(threads), 0);
}
#else
static void start_team(int threads, const std::function<void()>& body) {
#pragma omp parallel num_threads(threads)
  body();
}
#endif

void run_team(int threads, const std::function<void()>& body) {
  Profiler* const profiler = Profiler::of_all_threads();
  if (profiler == nullptr) return start_team(threads, body);
  ProfilerTrack* const* const tracks = profiler->compute_tracks(threads);
  const char* const name = profiler->innermost_span();
  start_team(threads, [&] {
    const TrackSpan span(tracks[omp_get_thread_num()], name);
    body();
  });
}

TaskScope::TaskScope() : threads_before_(omp_get_max_threads()) {
  omp_set_num_threads(1);
  inside_task = true;
}

TaskScope::~TaskScope() {
  omp_set_num_threads(threads_before_);
  inside_task = false;
}

TaskShares& TaskShares::of(std::span<const std::int64_t> counts, int threads) {
  static thread_local TaskShares shares;
  shares.loops_ = counts.size();
  shares.threads_ = static_cast<std::size_t>(threads);
  const std::size_t size = shares.loops_ * shares.threads_;
  if (shares.shares_.size() < size) shares.shares_ = std::vector<Share>(size);
  Share* share = shares.shares_.data();
  for (const std::int64_t tasks : counts) {
    const std::int64_t count = std::max<std::int64_t>(0, tasks);
    for (std::int64_t i = 0; i < threads; ++i, ++share) {
      share->next.store(count * i / threads, std::memory_order_relaxed);
      share->end = count * (i + 1) / threads;
    }
  }
  return shares;
}

int TaskShares::team_position() { return omp_get_thread_num(); }

bool TaskScope::inside() { return inside_task; }

}  // namespace detail
}  // namespace hearth::cpu
