#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hearth/cpu/topology.h"

namespace hearth::launch {

// Words: a rank is one process of the job; a place is where one of its threads runs, a physical core with its hardware
// threads, or one hardware thread with use_logical_cores.
using Place = std::vector<int>;

struct PlacementRequest {
  int ranks = 1;                               // on this host
  std::optional<std::int64_t> cores_per_rank;  // for computing
  std::optional<std::int64_t> threads;         // a rank, instead of one a place
  std::vector<int> nodes, processors;          // use these alone
  bool use_logical_cores = false;
  std::int64_t communication_cores = 0;       // a rank, besides those for computing
  std::vector<int> communication_processors;  // chosen by the user for all ranks, one after the other
};

struct RankPlacement {
  std::vector<int> nodes;  // whose memory it uses; none: any
  std::vector<Place> places, communication;
  int threads = 1;
  bool pinned = true;  // false: the places are shared, or more than the threads, and threads move among them

  std::vector<int> processors() const;  // of computing and communication
};

struct Placement {
  std::vector<RankPlacement> ranks;
  std::vector<std::string> warnings;
};

// One rank a NUMA node, or as many as there are for each, or several nodes a rank; no two ranks share a core unless
// there are more ranks than cores, which is a warning. What a flag asks for and the machine does not have is an Error.
Placement place(const cpu::UsableMachine& machine, const PlacementRequest& request);

// What is left of the machine where nodes or processors are chosen.
std::vector<cpu::NumaNode> chosen_nodes(const cpu::UsableMachine& machine, const PlacementRequest& request);
// How many ranks of `cores_per_rank` cores these nodes hold; at least 1.
int ranks_that_fit(const std::vector<cpu::NumaNode>& nodes, const PlacementRequest& request);

// The first hardware thread of every core for communication, of all ranks in order, as CCL_WORKER_AFFINITY wants them.
std::vector<int> communication_processors(const std::vector<RankPlacement>& ranks);

}  // namespace hearth::launch
