// Training in several processes.
#pragma once

#include "hearth/accelerate/process_group.h"
#include "hearth/comm/process_group.h"
#include "hearth/parallel/distributed_data_parallel.h"
#include "hearth/parallel/sharded_optimizer.h"
#include "hearth/parallel/team.h"

namespace hearth {

using comm::ProcessGroup, comm::ReduceOp;
using parallel::DistributedDataParallel, parallel::ShardedOptimizer, parallel::Team;

}  // namespace hearth
