#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hearth/comm/world.h"
#include "hearth/launch/config/config_source.h"
#include "hearth/launch/place/placement.h"
#include "hearth/launch/plan/decisions.h"
#include "hearth/launch/plan/launch_options.h"
#include "hearth/launch/plan/script_settings.h"

namespace hearth::launch {

// How the processes are started. existing_world: another launcher has started this one, once per rank.
enum class StartMethod { one_process, processes, mpirun, existing_world };

struct LaunchPlan {
  StartMethod method = StartMethod::one_process;
  comm::World world;  // this process's, in an existing world
  int num_processes = 1, num_machines = 1, machine_rank = 0;
  int local_processes = 1;
  std::string main_ip;  // empty: unknown; backends over MPI do not need it
  std::int64_t main_port = comm::kDefaultPort;
  std::optional<std::int64_t> communication_threads;
  std::optional<std::string> hostfile;
  ScriptSettings script;
  PlacementRequest request;
  std::vector<RankPlacement> placement;       // of this host's ranks; in an existing world of this rank only
  std::vector<int> communication_processors;  // of all ranks of this host, in order

  Decisions decisions;
  std::vector<std::string> warnings;
};

// Flags take precedence over the file, the file over the environment.
LaunchPlan make_plan(const LaunchOptions& options, const ConfigSource& file, const comm::World& world);

}  // namespace hearth::launch
