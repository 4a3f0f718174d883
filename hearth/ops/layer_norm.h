#pragma once

#include "hearth/ops/context.h"

namespace hearth::ops {

// y = LayerNorm(residual + dropout(x)), row by row; without a residual LayerNorm(x). x's buffer is taken over for the
// sum, so x must be used nowhere else.
Var layer_norm(Context& ctx, const Var& x, const Var& residual, Parameter& gamma, Parameter& beta, float eps,
               float dropout_p, std::uint32_t site);

inline Var layer_norm(Context& ctx, const Var& x, Parameter& gamma, Parameter& beta, float eps) {
  return layer_norm(ctx, x, Var(), gamma, beta, eps, 0, 0);
}

}  // namespace hearth::ops
