#pragma once

#include <functional>
#include <span>

#include "hearth/nn/model.h"
#include "hearth/optim/loss_scaler.h"
#include "hearth/parallel/data_parallel.h"

namespace hearth {

struct StepOptions {
  DType compute = DType::f32;
  double max_grad_norm = 1.0;  // 0: no clipping
  std::uint64_t seed = 42;
  bool gradient_checkpointing = false;
  ops::LossOptions loss = {};
  std::function<bool()> stop_requested = {};  // whether this process was asked to stop; called once per step
};

struct StepResult {
  double loss = 0;               // mean over the micro-batches of all processes
  double grad_norm = 0;          // before clipping
  bool skipped = false;          // fp16 overflowed: weights are unchanged
  double tokens = 0, flops = 0;  // of all processes
  bool stop = false;             // a process was asked to stop; the same on all of them
};

// One update of the weights from the micro-batches whose gradients are accumulated; every process has the same number
// of them. `step` is the number of the update, which seeds dropout.
StepResult training_step(nn::Model& model, parallel::DataParallel& ddp, optim::LossScaler& scaler,
                         std::span<const BatchPtr> micro_batches, std::uint64_t step, double lr,
                         const StepOptions& options);

}  // namespace hearth
