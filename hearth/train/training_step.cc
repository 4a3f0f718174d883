#include "hearth/train/training_step.h"

#include <array>
#include <cmath>

#include "hearth/base/check.h"
#include "hearth/base/profiler.h"
#include "hearth/base/timer.h"
#include "hearth/train/fault.h"

namespace hearth {
namespace {

constexpr std::size_t kSums = 4, kNumbersPerRank = 2;  // of what the ranks sum up beside the gradients

// Sums over the ranks, then places for what each rank says of itself.
std::vector<double> numbers_to_sum(const std::array<double, kSums>& sums, const RankLoad& load,
                                   const parallel::Team& team) {
  std::vector<double> numbers(sums.begin(), sums.end());
  numbers.resize(kSums + kNumbersPerRank * static_cast<std::size_t>(team.size()));
  const std::size_t own = kSums + kNumbersPerRank * static_cast<std::size_t>(team.rank());
  numbers[own] = load.busy_seconds;
  numbers[own + 1] = load.memory_bytes;
  return numbers;
}

std::vector<RankLoad> loads_in(std::span<const double> numbers) {
  std::vector<RankLoad> loads;
  for (std::size_t own = kSums; own < numbers.size(); own += kNumbersPerRank)
    loads.push_back({numbers[own], numbers[own + 1]});
  return loads;
}

}  // namespace

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

StepResult training_step(nn::Model& model, parallel::DistributedDataParallel& ddp,
                         parallel::ShardedOptimizer& optimizer, optim::LossScaler& scaler,
                         std::span<const BatchPtr> micro_batches, std::uint64_t step, double lr,
                         const StepOptions& options, const RankLoad& load) {
  const Span span("step");
  const Timer timer;
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
                         numbers_to_sum({result.loss / world, result.tokens, result.flops, stop}, load, ddp.team()));
    } else {
      tape.backward(loss, result.loss_grad);
    }
  }
  result.busy_seconds = timer.seconds();
  const std::span<const double> sums = ddp.finish();
  result.loss = sums[0];
  result.tokens = sums[1];
  result.flops = sums[2];
  result.stop = sums[3] > 0;
  result.ranks = loads_in(sums);

  result.grad_norm = ddp.grad_norm_after_backward() / scale;
  if (options.checks_ops) result.fault = first_fault(ddp.team(), ops_check);
  const bool finite = std::isfinite(result.loss) && std::isfinite(result.grad_norm) && result.fault.empty();
  result.overflowed = !scaler.accept(result.grad_norm);
  result.skipped = result.overflowed || (!finite && options.nan_policy != NanPolicy::ignore);
  if (!result.skipped) {
    const float clip = optim::clip_scale(result.grad_norm, options.max_grad_norm);
    optimizer.step(lr, clip / scale);
  }
  return result;
}

}  // namespace hearth
