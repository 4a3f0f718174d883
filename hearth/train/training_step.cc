#include "hearth/train/training_step.h"

#include <array>
#include <cmath>

#include "hearth/base/check.h"
#include "hearth/base/profiler.h"
#include "hearth/train/fault.h"

namespace hearth {

ops::Context training_context(Tape& tape, std::uint64_t step, const StepOptions& options, ops::FiniteCheck* check) {
  ops::Context ctx = ops::training_context(tape, step, options.seed);
  ctx.compute = options.compute;
  ctx.gradient_checkpointing = options.gradient_checkpointing;
  ctx.loss = options.loss;
  ctx.finite_check = check;
  return ctx;
}

Var loss_of(nn::Model& model, ops::Context& ctx, const BatchPtr& batch) {
  const Var loss = model.forward(ctx, batch).loss;
  check(loss.defined(), "[training_step] the batch has no labels to compute a loss from");
  return loss;
}

StepResult training_step(nn::Model& model, parallel::DataParallel& ddp, optim::LossScaler& scaler,
                         std::span<const BatchPtr> micro_batches, std::uint64_t step, double lr,
                         const StepOptions& options) {
  const Span span("step");
  StepResult result;
  const auto world = static_cast<float>(ddp.team().size());
  const auto count = static_cast<float>(micro_batches.size());
  const float scale = scaler.scale();
  // Gradients are summed over micro-batches and processes; starting each loss from this makes the sum their mean.
  result.loss_grad = scale / (count * world);
  // Gradients beyond the range of fp16 are the business of loss scaling.
  using Scope = ops::FiniteCheck::Scope;
  ops::FiniteCheck ops_check(scaler.enabled() ? Scope::values : Scope::values_and_gradients);

  model.parameters().zero_grad();
  for (const BatchPtr& batch : micro_batches) {
    Tape tape;
    ops::Context ctx = training_context(tape, step, options, options.checks_ops ? &ops_check : nullptr);
    const Var loss = loss_of(model, ctx, batch);
    result.loss += double{loss.value().item()} / count;
    result.tokens += static_cast<double>(batch->tokens());
    result.flops += model.training_flops(*batch);
    if (&batch == &micro_batches.back()) {
      const double stop = options.stop_requested && options.stop_requested() ? 1 : 0;
      ddp.start_backward(tape, loss, result.loss_grad,
                         std::array{result.loss / world, result.tokens, result.flops, stop});
    } else {
      tape.backward(loss, result.loss_grad);
    }
  }
  const std::span<const double> sums = ddp.finish();
  result.loss = sums[0];
  result.tokens = sums[1];
  result.flops = sums[2];
  result.stop = sums[3] > 0;

  result.grad_norm = ddp.grad_norm() / scale;
  if (options.checks_ops) result.fault = first_fault(ddp.team(), ops_check);
  const bool finite = std::isfinite(result.loss) && std::isfinite(result.grad_norm) && result.fault.empty();
  result.overflowed = !scaler.accept(result.grad_norm);
  result.skipped = result.overflowed || (!finite && options.nan_policy != NanPolicy::ignore);
  if (!result.skipped) {
    const float clip = optim::clip_scale(result.grad_norm, options.max_grad_norm);
    ddp.step(lr, clip / scale);
  }
  return result;
}

}  // namespace hearth
