#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "hearth/base/api.h"
#include "hearth/optim/optimizer.h"
#include "hearth/parallel/partition.h"
#include "hearth/parallel/shared_copies.h"
#include "hearth/parallel/team.h"

namespace hearth::parallel {

// An optimizer over the ranks of a team. If the partition is sharded, each rank updates its part of the weights, keeps
// only the moments of that part and sends the new weights to the others; otherwise every rank updates all of them.
// Ranks that share their weights (SharedArenas) send nothing.
class HEARTH_API ShardedOptimizer {
 public:
  // The partition must outlive it.
  ShardedOptimizer(const optim::OptimizerOptions& options, ParameterStore& parameters, const Partition& partition,
                   Team team, bool shares_weights = false);

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
