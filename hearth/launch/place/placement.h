#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hearth/cpu/topology.h"

namespace hearth::launch {

// Where one thread of a rank runs: the hardware threads of one physical core or, with use_logical_cores, one hardware
// thread. placement.cc defines the other terms.
using Place = std::vector<int>;

struct PlacementRequest {
  int ranks = 1;                               // on this host
  std::optional<std::int64_t> cores_per_rank;  // for computing
  std::optional<std::int64_t> threads;         // per rank, instead of one per place
  std::vector<int> nodes, processors;          // use only these NUMA nodes and hardware threads; empty: all
  bool use_logical_cores = false;
  std::int64_t communication_cores = 0;       // per rank, reserved besides those for computing
  std::vector<int> communication_processors;  // CCL_WORKER_AFFINITY: those of rank 0, then those of rank 1, ...
};

struct RankPlacement {
  std::vector<int> nodes;  // NUMA nodes to allocate memory from; empty: any
  std::vector<Place> places, communication;
  int threads = 1;
  bool pinned = true;  // one thread per place; false: threads move among the places, because they share them

  std::vector<int> processors() const;  // all hardware threads, for computing and communication
};

struct Placement {
  std::vector<RankPlacement> ranks;
  std::vector<std::string> warnings;
};

// Distributes the ranks over the machine: one per NUMA node, or several per node, or several nodes per rank. No two
// ranks share a core unless there are more ranks than cores, which is a warning. Asking for nodes or cores that the
// machine does not have is an Error.
Placement place(const cpu::UsableMachine& machine, const PlacementRequest& request);

// The machine restricted to the chosen nodes and hardware threads.
std::vector<cpu::NumaNode> chosen_nodes(const cpu::UsableMachine& machine, const PlacementRequest& request);
// The number of ranks with `cores_per_rank` cores that fit on these nodes; at least 1.
int ranks_that_fit(const std::vector<cpu::NumaNode>& nodes, const PlacementRequest& request);

// The first hardware thread of each communication core, rank by rank: the format of CCL_WORKER_AFFINITY.
std::vector<int> communication_processors(const std::vector<RankPlacement>& ranks);

}  // namespace hearth::launch
