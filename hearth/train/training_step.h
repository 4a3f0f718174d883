#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "hearth/nn/model.h"
#include "hearth/ops/context.h"
#include "hearth/optim/loss_scaler.h"
#include "hearth/parallel/sharded_optimizer.h"
#include "hearth/train/callbacks.h"
#include "hearth/train/training_choices.h"

namespace hearth {

struct StepOptions {
  DType compute = DType::f32;
  double max_grad_norm = 1.0;  // 0: no clipping
  std::uint64_t seed = 42;
  bool gradient_checkpointing = false;
  ops::LossOptions loss = {};
  std::function<bool()> stop_requested = {};  // whether this process was asked to stop; called once per step
  NanPolicy nan_policy = NanPolicy::stop;
  bool checks_ops = false;  // --debug underflow_overflow
};

struct StepResult {
  double loss = 0;               // mean over the micro-batches of all processes
  double grad_norm = 0;          // before clipping
  bool overflowed = false;       // fp16: loss scaling skips the step
  bool skipped = false;          // the weights are unchanged, because something was not finite
  float loss_grad = 1;           // that the backward passes started from
  std::string fault;             // with checks_ops: what the check of the first process that has any found
  double tokens = 0, flops = 0;  // of all processes
  bool stop = false;             // a process was asked to stop; the same on all of them
  double busy_seconds = 0;       // of this process, until it waited for the gradients of the others
  std::vector<RankLoad> ranks;   // what each process said of its step before this one
};

// The settings of a forward pass of training that `tape` records. `step` seeds dropout. `check` looks at every op.
ops::Context training_context(Tape& tape, std::uint64_t step, const StepOptions& options,
                              ops::FiniteCheck* check = nullptr);

// A forward pass; an Error if it has no loss.
Var loss_of(nn::Model& model, ops::Context& ctx, const BatchPtr& batch);

// One update of the weights from the micro-batches whose gradients are accumulated; every process has the same number
// of them. `step` is the number of the update, which seeds dropout. `load` is that of this process in the step before,
// for StepResult::ranks of all.
StepResult training_step(nn::Model& model, parallel::DistributedDataParallel& ddp,
                         parallel::ShardedOptimizer& optimizer, optim::LossScaler& scaler,
                         std::span<const BatchPtr> micro_batches, std::uint64_t step, double lr,
                         const StepOptions& options, const RankLoad& load = {});

}  // namespace hearth
