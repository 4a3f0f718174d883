#pragma once

#include <span>

#include "hearth/ops/context.h"

namespace hearth::ops {

// Mean cross entropy of logits (rows, classes) in f32 over the rows whose label is not `ignore_label`: one number.
Var cross_entropy(Context& ctx, const Var& logits, std::span<const std::int64_t> labels, std::int64_t ignore_label,
                  float label_smoothing);

// The loss of extractive question answering over the context's sequences; logits (T, 2) f32. `starts` and `ends` are
// answer positions, counted from the first token of their sequence.
Var span_loss(Context& ctx, const Var& logits, std::span<const std::int64_t> starts,
              std::span<const std::int64_t> ends);

}  // namespace hearth::ops
