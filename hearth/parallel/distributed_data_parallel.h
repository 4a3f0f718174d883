#pragma once

#include <memory>
#include <span>
#include <vector>

#include "hearth/base/api.h"
#include "hearth/parallel/gradient_reducer.h"
#include "hearth/parallel/partition.h"
#include "hearth/parallel/shared_arenas.h"
#include "hearth/parallel/team.h"

namespace hearth::parallel {

struct DataParallelOptions {
  PartitionOptions partition = {};
  DType wire = DType::f32;  // the dtype in which gradients are sent: bf16 halves the bytes
};

// Averages the gradients of a model over the ranks while backward runs: each rank computes the gradients of its own
// samples, and all get the mean. The ranks start from the weights of rank 0 if broadcast_weights() was called. Ranks
// that share memory have their gradients there, and one array of weights if the partition is sharded (SharedArenas).
class HEARTH_API DistributedDataParallel {
 public:
  explicit DistributedDataParallel(ParameterStore& parameters, Team team = {}, const DataParallelOptions& options = {});
  DistributedDataParallel(const DistributedDataParallel&) = delete;  // reducer_ refers to partition_
  DistributedDataParallel& operator=(const DistributedDataParallel&) = delete;

  const Team& team() const { return team_; }
  const Partition& partition() const { return partition_; }
  ParameterStore& parameters() const { return parameters_; }

  void broadcast_weights() const;

  // The backward pass of a loss whose gradient is the mean over the ranks. `loss_grad` is d(loss)/d(loss).
  void backward(const Var& loss, float loss_grad = 1);
  // The backward pass of a micro-batch that more will follow: nothing is sent.
  void backward_without_sync(const Var& loss, float loss_grad = 1);

  // backward() in two halves, so that numbers (loss, counts) travel with the gradients: the sums over the ranks of both
  // are there when finish() returns. Gradients are sums, not means: `loss_grad` must be divided by the number of ranks.
  void start_backward(Tape& tape, const Var& loss, float loss_grad, std::span<const double> numbers);
  std::span<const double> finish();

  double grad_norm() const;  // of the mean gradients
  // The same if nothing has written to the gradients since finish(): a single rank then need not read those whose sum
  // of squares backward has computed (Parameter::grad_squares).
  double grad_norm_after_backward() const;

  const GradientReducer& reducer() const { return reducer_; }
  const SharedArenas* shared() const { return shared_.get(); }  // null: the ranks do not share memory

 private:
  void check_not_reduced();
  double grad_norm(bool uses_squares) const;

  ParameterStore& parameters_;
  Team team_;
  Partition partition_;
  std::unique_ptr<SharedArenas> shared_;
  GradientReducer reducer_;
  std::vector<double> sums_;
  comm::WorkPtr summing_;
  bool reduced_ = false;  // since the last zero_grad(), as far as is known
};

}  // namespace hearth::parallel
