#pragma once

#include "hearth/base/api.h"
#include "hearth/ops/context.h"

namespace hearth::ops {

// Rows of f32 matrices, and pairs of rows: row i of `a` with row i of `b`.

// Each row divided by its Euclidean norm, or by `least` where that is larger.
HEARTH_API Var normalize_rows(Context& ctx, const Var& x, float least = 1e-12f);
HEARTH_API Var dot_rows(Context& ctx, const Var& a, const Var& b);  // (M)
// (M): the dot product of the normalised rows.
HEARTH_API Var cosine_rows(Context& ctx, const Var& a, const Var& b, float least = 1e-12f);

enum class Distance : std::uint8_t { euclidean, manhattan };
// (M): the norm of a - b + shift. PyTorch's pairwise_distance has a shift of 1e-6, so that it has a gradient where the
// rows are equal; without one, that gradient is zero here.
HEARTH_API Var distance_rows(Context& ctx, const Var& a, const Var& b, Distance distance, float shift = 0);

}  // namespace hearth::ops
