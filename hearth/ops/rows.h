#pragma once

#include <cstdint>
#include <span>

#include "hearth/base/api.h"
#include "hearth/ops/context.h"

namespace hearth::ops {

// The first token of each sequence: (T, H) -> (S, H).
HEARTH_API Var first_tokens(Context& ctx, const Var& x);

// The mean of each sequence's tokens without its padding: (T, H) -> (S, H). Sums are f32.
HEARTH_API Var mean_tokens(Context& ctx, const Var& x);

// These rows of x, in this order; a row may be named more than once: (T, H) -> (R, H).
HEARTH_API Var take_rows(Context& ctx, const Var& x, std::span<const std::int64_t> rows);

}  // namespace hearth::ops
