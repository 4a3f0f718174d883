#pragma once

#include "hearth/parallel/distributed_data_parallel.h"
#include "hearth/parallel/sharded_optimizer.h"

namespace hearth::parallel {

// Data-parallel training of one model: gradients averaged over the ranks, and the optimizer that applies them.
class DataParallel : public DistributedDataParallel, public ShardedOptimizer {
 public:
  DataParallel(ParameterStore& parameters, const optim::OptimizerOptions& optimizer, Team team = {},
               const DataParallelOptions& options = {})
      : DistributedDataParallel(parameters, team, options),
        ShardedOptimizer(optimizer, parameters, partition(), std::move(team)) {}
};

}  // namespace hearth::parallel
