#include "hearth/parallel/data_parallel.h"

#include "hearth/optim/optimizers.h"

namespace hearth::parallel {
namespace {

DataParallelOptions completed(DataParallelOptions options, const optim::OptimizerOptions& optimizer, const Team& team) {
  if (shards_by_itself(team, optimizer.name, options.wire)) options.partition.sharded = true;
  return options;
}

}  // namespace

bool shards_by_itself(const Team& team, std::string_view optimizer, DType wire) {
  return team.group().shares_memory() && wire == DType::f32 && optim::can_shard(optimizer);
}

DataParallel::DataParallel(ParameterStore& parameters, const optim::OptimizerOptions& optimizer, Team team,
                           const DataParallelOptions& options)
    : DistributedDataParallel(parameters, team, completed(options, optimizer, team)),
      ShardedOptimizer(optimizer, parameters, partition(), team, shared() != nullptr && shared()->has_weights()) {}

}  // namespace hearth::parallel
