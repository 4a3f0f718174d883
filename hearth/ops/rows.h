#pragma once

#include "hearth/ops/context.h"

namespace hearth::ops {

// The first token of each sequence: (T, H) -> (S, H).
Var first_tokens(Context& ctx, const Var& x);

// The mean of each sequence's tokens without its padding: (T, H) -> (S, H). Sums are f32.
Var mean_tokens(Context& ctx, const Var& x);

}  // namespace hearth::ops
