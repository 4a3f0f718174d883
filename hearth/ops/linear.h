#pragma once

#include "hearth/base/api.h"
#include "hearth/kernels/rows/activation.h"
#include "hearth/ops/context.h"

namespace hearth::ops {

// y (T, N) = f(x (T, K) W^T + b), W (N, K), b (N) or null. `out` is the dtype of y.
HEARTH_API Var linear(Context& ctx, const Var& x, Parameter& weight, Parameter* bias, kernels::Activation activation,
                      DType out);

inline Var linear(Context& ctx, const Var& x, Parameter& weight, Parameter* bias,
                  kernels::Activation activation = kernels::Activation::none) {
  return linear(ctx, x, weight, bias, activation, ctx.compute);
}

}  // namespace hearth::ops
