#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "hearth/optim/optimizer.h"
#include "hearth/parallel/gradient_reducer.h"
#include "hearth/parallel/partition.h"
#include "hearth/parallel/team.h"

namespace hearth::parallel {

struct DataParallelOptions {
  PartitionOptions partition;
  DType wire = DType::f32;
};

// One model trained by a team: each member computes gradients of its own samples, all make the same update of the sum.
// Sharded, each makes and remembers a part of the update and hands its weights to the others.
class DataParallel {
 public:
  DataParallel(ParameterStore& parameters, const optim::OptimizerOptions& optimizer, Team team = {},
               const DataParallelOptions& options = {});

  const Team& team() const { return team_; }
  std::int64_t steps() const { return earlier_steps_ + optimizer_->steps(); }  // updates made
  std::int64_t moment_steps() const { return optimizer_->steps(); }            // those that the moments have seen

  // The last backward pass of a step. While it runs, or in finish(), gradients are summed over the team, and so are the
  // `reports`.
  void backward(Tape& tape, const Var& loss, float seed, std::span<const double> reports);
  // Waits for the others; the sums of the reports.
  std::span<const double> finish();
  double grad_norm() const;
  void step(double lr, float grad_scale);

  // What resuming needs, whole; where it is sharded, on the first member alone. Every member calls it.
  optim::Optimizer::State state() const;
  // `read` fills the arrays it is given, which have the names and shapes of state().
  void load_state(std::int64_t steps, std::int64_t moment_steps,
                  const std::function<void(const optim::Optimizer::State&)>& read);
  // Without the moments of the updates made so far.
  void start_anew(std::int64_t steps) { earlier_steps_ = steps; }

  const GradientReducer& reducer() const { return reducer_; }

 private:
  void share_weights();
  Tensor gathered(const Tensor& moments) const;

  ParameterStore& parameters_;
  Team team_;
  Partition partition_;
  GradientReducer reducer_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::int64_t earlier_steps_ = 0;  // before the moments began
  std::vector<double> reports_;
  comm::WorkPtr reporting_;
};

}  // namespace hearth::parallel
