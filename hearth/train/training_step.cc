#include "hearth/train/training_step.h"

#include "hearth/base/profiler.h"

namespace hearth {

StepResult training_step(nn::Model& model, optim::Optimizer& optimizer, optim::LossScaler& scaler,
                         std::span<const Batch> micro_batches, std::uint64_t step, double lr,
                         const StepOptions& options) {
  const Span span("step");
  StepResult result;
  const auto count = static_cast<float>(micro_batches.size());
  const float scale = scaler.scale();

  model.parameters().zero_grad();
  for (const Batch& batch : micro_batches) {
    Tape tape;
    ops::Context ctx;
    ctx.tape = &tape;
    ctx.compute = options.compute;
    ctx.training = true;
    ctx.seed = options.seed;
    ctx.step = step;
    const Var loss = model.forward(ctx, batch).loss;
    check(loss.defined(), "[training_step] the batch has no labels to compute a loss from");
    result.loss += double{loss.value().item()} / count;
    tape.backward(loss, scale / count);
  }
  model.parameters().complete_grads();

  result.grad_norm = optim::grad_norm(model.parameters()) / scale;
  result.skipped = !scaler.accept(result.grad_norm);
  if (!result.skipped) {
    const float clip = optim::clip_scale(result.grad_norm, options.max_grad_norm);
    optimizer.step(lr, clip / scale);
  }
  return result;
}

}  // namespace hearth
