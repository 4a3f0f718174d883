#include "hearth/cpu/memory_room.h"

#include <sys/resource.h>

#include <algorithm>
#include <vector>

#include "hearth/cpu/cgroup.h"
#include "hearth/cpu/memory.h"
#include "hearth/cpu/system.h"

namespace hearth::cpu {

MemoryRoom memory_room(int processes_of_host) {
  const auto processes = static_cast<std::size_t>(std::max(1, processes_of_host));
  std::vector<MemoryRoom> bounds{{memory_available() / processes, "this machine"}};
  if (const auto group = cgroup_memory_room()) bounds.push_back({*group / processes, "the control group"});
  const PoolStats pool = pool_stats();
  const std::size_t left = pool.limit_bytes - pool.in_use_bytes;
  if (soft_limit(RLIMIT_AS)) bounds.push_back({left, "`ulimit -v`"});
  if (const auto data = soft_limit(RLIMIT_DATA))
    bounds.push_back({*data - std::min(*data, data_bytes()), "`ulimit -d`"});
  return *std::ranges::min_element(bounds, {}, &MemoryRoom::bytes);
}

}  // namespace hearth::cpu
