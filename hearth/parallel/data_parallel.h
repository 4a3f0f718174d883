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

// Data-parallel training of one model: each rank computes the gradients of its own samples, and all ranks apply the
// same update from the sum. If the optimizer is sharded, each rank updates its part of the weights, keeps only the
// moments of that part, and sends the new weights to the others.
class DataParallel {
 public:
  DataParallel(ParameterStore& parameters, const optim::OptimizerOptions& optimizer, Team team = {},
               const DataParallelOptions& options = {});
  DataParallel(const DataParallel&) = delete;  // reducer_ refers to partition_
  DataParallel& operator=(const DataParallel&) = delete;

  const Team& team() const { return team_; }
  std::int64_t steps() const { return earlier_steps_ + optimizer_->steps(); }  // updates made
  std::int64_t moment_steps() const { return optimizer_->steps(); }            // updates since the moments began

  // The last backward pass of a step. Gradients are summed over the ranks while it runs, or in finish(). The numbers in
  // `numbers` (loss, counts) are summed as well.
  void backward(Tape& tape, const Var& loss, float loss_grad, std::span<const double> numbers);
  // Waits for the other ranks; returns the sums of the numbers.
  std::span<const double> finish();
  double grad_norm() const;
  void step(double lr, float grad_scale);

  // The whole optimizer state, for a checkpoint. If sharded, only rank 0 gets it. Every rank must call it.
  optim::Optimizer::State state() const;
  // `read` fills the arrays it is given, which have the names and shapes of state(). Every rank must call load_state;
  // `read` is called on rank 0, which sends the arrays to the others.
  void load_state(std::int64_t steps, std::int64_t moment_steps,
                  const std::function<void(const optim::Optimizer::State&)>& read);
  // Continues after `steps` updates with moments that start at zero.
  void start_anew(std::int64_t steps) { earlier_steps_ = steps; }

  const GradientReducer& reducer() const { return reducer_; }

 private:
  void gather_weights();
  Tensor gathered(const Tensor& moments) const;

  ParameterStore& parameters_;
  Team team_;
  Partition partition_;
  GradientReducer reducer_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::int64_t earlier_steps_ = 0;  // before the moments began
  std::vector<double> sums_;
  comm::WorkPtr summing_;
};

}  // namespace hearth::parallel
