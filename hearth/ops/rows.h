#pragma once

#include "hearth/base/api.h"
#include "hearth/ops/context.h"

namespace hearth::ops {

// The first token of each sequence: (T, H) -> (S, H).
HEARTH_API Var first_tokens(Context& ctx, const Var& x);

// The mean of each sequence's tokens without its padding: (T, H) -> (S, H). Sums are f32.
HEARTH_API Var mean_tokens(Context& ctx, const Var& x);

}  // namespace hearth::ops
