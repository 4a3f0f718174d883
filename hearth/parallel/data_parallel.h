#pragma once

#include <string_view>

#include "hearth/parallel/distributed_data_parallel.h"
#include "hearth/parallel/sharded_optimizer.h"

namespace hearth::parallel {

// Whether the ranks shard the optimizer without being asked to: they share memory, so that each updates its part of
// weights that exist once, and the optimizer can be sharded.
HEARTH_API bool shards_by_itself(const Team& team, std::string_view optimizer, DType wire);

// Data-parallel training of one model: gradients averaged over the ranks, and the optimizer that applies them.
class HEARTH_API DataParallel : public DistributedDataParallel, public ShardedOptimizer {
 public:
  explicit DataParallel(ParameterStore& parameters, const optim::OptimizerOptions& optimizer, Team team = {},
                        const DataParallelOptions& options = {});
};

}  // namespace hearth::parallel
