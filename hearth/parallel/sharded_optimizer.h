#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "hearth/base/api.h"
#include "hearth/optim/optimizer.h"
#include "hearth/parallel/distributed_data_parallel.h"
#include "hearth/parallel/shared_copies.h"

namespace hearth::parallel {

// Whether the ranks shard the optimizer without being asked to: they share memory, so that each updates its part of
// weights that exist once, and the optimizer can be sharded.
HEARTH_API bool shards_by_itself(const Team& team, std::string_view optimizer, DType wire);

// The optimizer that applies averaged gradients. If their partition is sharded, each rank updates its part of the
// weights, keeps only the moments of that part and sends the new weights to the others; otherwise every rank updates
// all of them. Ranks that share their weights (SharedArenas) send nothing.
class HEARTH_API ShardedOptimizer {
 public:
  // `gradients` must outlive it.
  ShardedOptimizer(const optim::OptimizerOptions& options, const DistributedDataParallel& gradients);

  const Team& team() const { return team_; }

  void step(double lr, float grad_scale);
  std::int64_t steps() const { return earlier_steps_ + optimizer_->steps(); }  // updates made
  std::int64_t moment_steps() const { return optimizer_->steps(); }            // updates since the moments began

  // The whole state, for a checkpoint. If sharded, only rank 0 gets it. Every rank must call it.
  optim::Optimizer::State state() const;
  // `read` fills the arrays it is given, which have the names and shapes of state(). Every rank must call load_state;
  // `read` is called on rank 0, which sends the arrays to the others.
  void load_state(std::int64_t steps, std::int64_t moment_steps,
                  const std::function<void(const optim::Optimizer::State&)>& read);
  // Continues after `steps` updates with moments that start at zero.
  void start_anew(std::int64_t steps) { earlier_steps_ = steps; }

 private:
  void wait_for_updates();
  void gather_weights();
  Tensor gathered(const Tensor& moments) const;

  ParameterStore& parameters_;
  const Partition& partition_;
  Team team_;
  std::optional<SharedCopies> shared_copies_;  // if the ranks share their weights
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::int64_t earlier_steps_ = 0;  // before the moments began
};

}  // namespace hearth::parallel
