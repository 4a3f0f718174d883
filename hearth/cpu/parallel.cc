#include "hearth/cpu/parallel.h"

#include <dlfcn.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <memory>

#include "hearth/base/check.h"
#include "hearth/base/environment.h"
#include "hearth/base/profiler.h"
#include "hearth/cpu/topology.h"

namespace hearth::cpu {
namespace {

const int kOpenMpThreads = omp_get_max_threads();  // before any task lowers it
std::atomic<int> configured = 0;
static_assert(kMostThreads < static_cast<int>(TeamSignal::kStep));  // the signal counts as many sleepers
constinit thread_local bool inside_task = false, has_ended = false;

struct OfThread {
  detail::TaskShares shares;
  std::unique_ptr<ThreadTeam> team;
};

// Ends the team with its thread. A task may call exit(): then the team still works, and nothing of it may go.
class OwnedByThread {
 public:
  OwnedByThread() = default;
  ~OwnedByThread() {
    has_ended = true;
    if (!inside_task) delete held_;
  }
  OwnedByThread(const OwnedByThread&) = delete;
  OwnedByThread& operator=(const OwnedByThread&) = delete;
  OfThread& operator*() const { return *held_; }

 private:
  OfThread* const held_ = new OfThread;
};

OfThread& of_this_thread() {
  static thread_local const OwnedByThread owned;
  return *owned;
}

ThreadTeam& team_of_this_thread(int threads) {
  std::unique_ptr<ThreadTeam>& team = of_this_thread().team;
  if (team == nullptr || team->threads() != threads || !team->is_of_this_process()) {
    team.reset();
    team = std::make_unique<ThreadTeam>(threads);
  }
  return *team;
}

}  // namespace

void set_num_threads(int count) {
  check(count >= 0 && count <= kMostThreads, "[set_num_threads] the number of threads must be from 0 to {}, got {}",
        kMostThreads, count);
  configured = count;
}

int num_threads() {
  static const int otherwise =
      environment("OMP_NUM_THREADS").empty() ? default_threads(topology()) : std::min(kOpenMpThreads, kMostThreads);
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

void run_team(int threads, TeamJob body) {
  ThreadTeam& team = team_of_this_thread(threads);
  Profiler* const profiler = Profiler::of_all_threads();
  if (profiler == nullptr) return team.run(body);
  ProfilerTrack* const* const tracks = profiler->compute_tracks(threads);
  const char* const name = profiler->innermost_span();
  const auto recorded = [&](int position) {
    const TrackSpan span(tracks[position], name);
    body(position);
  };
  team.run(TeamJob(recorded));
}

bool team_has_ended() { return has_ended; }

TaskScope::TaskScope() : threads_before_(omp_get_max_threads()) {
  omp_set_num_threads(1);
  inside_task = true;
}

TaskScope::~TaskScope() {
  omp_set_num_threads(threads_before_);
  inside_task = false;
}

TaskShares& TaskShares::of(std::span<const std::int64_t> counts, int threads) {
  TaskShares& shares = of_this_thread().shares;
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

bool TaskScope::inside() { return inside_task; }

}  // namespace detail
}  // namespace hearth::cpu
