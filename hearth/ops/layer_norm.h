#pragma once

#include "hearth/base/api.h"
#include "hearth/ops/context.h"

namespace hearth::ops {

// y = LayerNorm(residual + dropout(x)), row by row; without a residual LayerNorm(x). Rows are tokens (T, H) or
// sequences (S, H). The sum takes memory of its own; std::move(x) lets it overwrite x where nobody else holds x.
HEARTH_API Var layer_norm(Context& ctx, Var x, const Var& residual, Parameter& gamma, Parameter& beta, float eps,
                          float dropout_p, std::uint32_t site);

inline Var layer_norm(Context& ctx, const Var& x, Parameter& gamma, Parameter& beta, float eps) {
  return layer_norm(ctx, x, Var(), gamma, beta, eps, 0, 0);
}

}  // namespace hearth::ops
