#include "hearth/cpu/thread_limits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <vector>

#include "hearth/cpu/cgroup.h"
#include "hearth/cpu/system.h"

namespace hearth::cpu {

std::string thread_limits() {
  std::vector<std::string> limits;
  if (const auto processes = soft_limit(RLIMIT_NPROC))
    limits.push_back(fmt::format("`ulimit -u` allows this user {} processes and threads", *processes));
  if (const auto threads = cgroup_most_threads())
    limits.push_back(fmt::format("the control group allows {} (pids.max)", *threads));
  if (const auto bytes = soft_limit(RLIMIT_AS))
    limits.push_back(fmt::format("`ulimit -v` allows {} MiB of addresses, stacks included", *bytes >> 20));
  return fmt::format("{}; raise the limit that was met, or use fewer threads with --num_threads",
                     limits.empty() ? "the system has no more of them" : fmt::format("{}", fmt::join(limits, ", ")));
}

ResourceError refused_threads(int count, int started) {
  return ResourceError(
      fmt::format("the system refused to start {} threads, it started {}: {}", count, started, thread_limits()));
}

}  // namespace hearth::cpu
