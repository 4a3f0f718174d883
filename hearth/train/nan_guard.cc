#include "hearth/train/nan_guard.h"

#include <fmt/format.h>

#include <cmath>

#include "hearth/base/log.h"
#include "hearth/base/not_finite_error.h"
#include "hearth/base/profiler.h"
#include "hearth/train/fault.h"

namespace hearth {
namespace {

// A NaN has a sign, which says nothing.
std::string in_words(double x) { return std::isnan(x) ? "NaN" : fmt::format("{:.4g}", x); }

std::string numbers_of(const StepResult& result) {
  return fmt::format("the loss is {} and the gradient norm {}", in_words(result.loss), in_words(result.grad_norm));
}

}  // namespace

NanGuard::NanGuard(const TrainingArguments& args, parallel::Team team)
    : policy_(args.nan_policy), fp16_(args.fp16), learning_rate_(args.learning_rate), team_(std::move(team)) {}

void NanGuard::after_step(std::int64_t step, const StepResult& result, float loss_scale,
                          const CheckpointKeeper& checkpoints, const std::function<std::string()>& locate) {
  const Span span("checks");
  if (!result.skipped) {
    in_a_row_ = 0;
    if (!result.fault.empty()) warn(fmt::format("step {}: {}", step, result.fault));
    return;
  }
  ++in_a_row_;
  if (const std::string reason = reason_to_stop(step, result, loss_scale); !reason.empty())
    stop(fmt::format("{}; {}", reason, locate()), checkpoints);
  warn(result.overflowed ? fmt::format("step {} skipped: fp16 overflowed; the loss scale is now {}", step, loss_scale)
                         : fmt::format("step {} skipped: {}; {}", step, numbers_of(result), locate()));
}

std::string NanGuard::reason_to_stop(std::int64_t step, const StepResult& result, float loss_scale) const {
  if (policy_ == NanPolicy::ignore) return "";
  if (in_a_row_ >= kMostInARow)
    return fmt::format("training stopped at step {}, the last of {} skipped in a row: {}", step, in_a_row_,
                       numbers_of(result));
  if (policy_ == NanPolicy::skip) return "";
  if (!result.overflowed || !result.fault.empty())
    return fmt::format("training stopped at step {}, before its update: {}", step, numbers_of(result));
  if (loss_scale >= 1) return "";
  return fmt::format("training stopped at step {}: fp16 overflowed, although the loss scale has fallen to {}", step,
                     loss_scale);
}

bool NanGuard::may_save(std::int64_t step, const ParameterStore& weights, const CheckpointKeeper& checkpoints) const {
  const std::string name = first_not_finite(weights);
  if (name.empty()) return true;
  const std::string fact = fmt::format("the weight {} is not finite after step {}", name, step);
  if (policy_ == NanPolicy::stop) stop("training stopped: " + fact, checkpoints);
  warn(fact + ", so no checkpoint is written");
  return false;
}

void NanGuard::check_trained(const ParameterStore& weights, const CheckpointKeeper& checkpoints) const {
  const std::string name = first_not_finite(weights);
  if (name.empty()) return;
  const std::string fact = fmt::format("the weight {} is not finite after training", name);
  if (policy_ != NanPolicy::ignore) stop(fact + ", so the model is not saved", checkpoints);
  warn(fact + ": the model that is saved is of no use");
}

void NanGuard::stop(const std::string& reason, const CheckpointKeeper& checkpoints) const {
  const std::string last = checkpoints.last().string();
  throw NotFiniteError(team_.broadcast(
      fmt::format("{}; {}; try a --learning_rate below {:g}{}, and look for broken values in the training data", reason,
                  last.empty() ? "there is no checkpoint of this run" : "the last checkpoint is " + last,
                  learning_rate_, fp16_ ? ", --bf16 or fp32 instead of --fp16" : "")));
}

void NanGuard::warn(const std::string& message) const {
  if (team_.is_first()) log_warning("{}", message);
}

}  // namespace hearth
