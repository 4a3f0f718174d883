#pragma once

#include "hearth/ops/context.h"

namespace hearth::ops {

// y = LayerNorm(residual + dropout(x)), row by row; without a residual LayerNorm(x). The sum overwrites the buffer of
// x, so x must not be used anywhere else.
Var layer_norm(Context& ctx, const Var& x, const Var& residual, Parameter& gamma, Parameter& beta, float eps,
               float dropout_p, std::uint32_t site);

inline Var layer_norm(Context& ctx, const Var& x, Parameter& gamma, Parameter& beta, float eps) {
  return layer_norm(ctx, x, Var(), gamma, beta, eps, 0, 0);
}

}  // namespace hearth::ops
