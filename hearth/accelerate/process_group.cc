#include "hearth/accelerate/process_group.h"

#include <unistd.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/comm/connect.h"
#include "hearth/cpu/isa.h"
#include "hearth/cpu/parallel.h"
#include "hearth/cpu/topology.h"
#include "hearth/launch/place/started_rank.h"

namespace hearth {
namespace {

// Whether sending gradients during the backward pass saves time. Ranks on one host exchange messages by copying memory
// on their own cores: a rank that has a single core gains nothing, because sending and computing only take turns on it
// and evict each other's cache lines, unless the backend leaves time to compute.
bool overlap_pays(const comm::World& world, const comm::ProcessGroup& group,
                  const std::vector<int>& communication_cpus) {
  return world.several_hosts() || group.overlaps_without_threads() || !communication_cpus.empty() ||
         cpu::num_threads() > 1 || cpu::processors_of_process(getpid()).size() != 1;
}

}  // namespace

parallel::Team init_process_group(const ProcessGroupOptions& options) {
  const comm::World world = comm::world_from_environment();
  if (world.rank > 0) set_log_level(LogLevel::warning);
  return init_process_group(world, options);
}

parallel::Team init_process_group(const comm::World& world, const ProcessGroupOptions& options) {
  check(options.timeout_seconds > 0, "[init_process_group] timeout_seconds must be above 0, got {}",
        options.timeout_seconds);
  comm::ConnectOptions connecting;
  connecting.backend = options.backend;
  connecting.timeout = std::chrono::seconds(options.timeout_seconds);
  connecting.cpus = launch::place_this_process(world.local_rank, world.local_size);
  if (options.num_threads > 0) cpu::set_num_threads(static_cast<int>(options.num_threads));
  cpu::features();  // may fork to probe AMX, which MPI forbids once comm::connect has initialised it
  std::shared_ptr<comm::ProcessGroup> group = comm::connect(world, connecting);
  const bool overlaps = overlap_pays(world, *group, connecting.cpus);
  launch::take_turns(world, *group);
  parallel::Team team(std::move(group), world.local_rank, overlaps);
  if (team.size() > 1)
    log_info("{} processes, {} of them on this host, over {}", team.size(), world.local_size, team.group().backend());
  return team;
}

}  // namespace hearth
