#pragma once

#include <span>

#include "hearth/base/api.h"
#include "hearth/kernels/loss/loss.h"
#include "hearth/ops/context.h"

namespace hearth::ops {

using kernels::BinaryCrossEntropyOptions, kernels::CrossEntropyOptions;

// Every loss is one number, the mean, of logits in f32. `kernels/loss.h` states which function of PyTorch each follows.

// Mean cross entropy of logits (rows, classes) over the rows whose label is not the ignored one.
HEARTH_API Var cross_entropy(Context& ctx, const Var& logits, std::span<const std::int64_t> labels,
                             const CrossEntropyOptions& options = {});

// Several independent yes-or-no labels per row, logits (rows, labels). targets (rows, labels) lie between 0 and 1.
HEARTH_API Var binary_cross_entropy(Context& ctx, const Var& logits, std::span<const float> targets,
                                    const BinaryCrossEntropyOptions& options = {});

// Regression: logits (rows, numbers) against targets (rows, numbers).
HEARTH_API Var mean_squared_error(Context& ctx, const Var& logits, std::span<const float> targets);

// The loss of extractive question answering over the context's sequences; logits (T, 2) f32. `starts` and `ends` are
// answer positions, counted from the first token of their sequence.
HEARTH_API Var span_loss(Context& ctx, const Var& logits, std::span<const std::int64_t> starts,
                         std::span<const std::int64_t> ends);

}  // namespace hearth::ops
