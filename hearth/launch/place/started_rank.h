#pragma once

#include "hearth/comm/process_group.h"
#include "hearth/comm/world.h"
#include "hearth/launch/place/placement.h"

namespace hearth::launch {

// The placement of a rank that mpirun, srun or torchrun has started: its share of the cores that the ranks of this host
// have in common, or the cores that its starter has bound it to.
struct StartedRank {
  RankPlacement placement;
  std::vector<int> communication_processors;  // of all ranks of this host, in order; empty if unknown
  std::vector<std::string> warnings;
};
StartedRank place_started_rank(int local_rank, const PlacementRequest& request);

// Pins this process to its share of the host's cores and sets its thread count. Returns the CPUs reserved for its
// communication thread (empty: none). Does not bind if the rank is alone on its host or if OMP_PLACES, OMP_PROC_BIND or
// GOMP_CPU_AFFINITY already pin its threads, as under `hearth launch`. Call it before the first parallel work.
std::vector<int> place_this_process(int local_rank, int local_size);

// Lets ranks on one host and in one NUMA node, each with as many hardware threads as the others and no other's, take
// turns on these. Hardware threads are not equally fast, virtual ones above all, and every step would otherwise wait
// for the rank on the slowest. HEARTH_TAKE_TURNS=0 turns it off. All ranks must call it.
void take_turns(const comm::World& world, comm::ProcessGroup& group);

}  // namespace hearth::launch
