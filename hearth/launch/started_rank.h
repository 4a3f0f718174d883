#pragma once

#include "hearth/comm/process_group.h"
#include "hearth/comm/world.h"
#include "hearth/launch/placement.h"

namespace hearth::launch {

// Where a rank belongs that mpirun or the like has started beside others: its share of what all of them may run on, or
// what its starter has bound it to.
struct StartedRank {
  RankPlacement placement;
  std::vector<int> communication_processors;  // of all ranks of this host, in order; none where that is not known
  std::vector<std::string> warnings;
};
StartedRank place_started_rank(int local_rank, const PlacementRequest& request);

// Binds the calling process so and sets its number of threads; the result are the processors set aside for its
// communication thread, none where it has none of its own. For ranks of a plain mpirun; to be called before the first
// parallel work. A rank alone on its host, and one whose threads variables of OpenMP bind already, as `hearth launch`
// does, stays where it is.
std::vector<int> place_this_process(int local_rank, int local_size);

// Ranks that have one hardware thread each, of the same NUMA node, take turns on them: on machines whose processors are
// not equally fast, virtual ones above all, every step would wait for the rank that has the slowest.
// HEARTH_TAKE_TURNS=0 leaves them where they are.
void take_turns(const comm::World& world, comm::ProcessGroup& group);

}  // namespace hearth::launch
