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

// A weight (N, K) with a bias (N), or null.
struct LinearParameters {
  Parameter *weight, *bias;
};

// y (T, M) = f(x (T, K) W^T + b) V^T + c, with W (N, K) the first layer's weight and V (M, N) the second one's. One op,
// because backward then multiplies by f' where it computes the gradient of f's output, without a pass of its own.
HEARTH_API Var feed_forward(Context& ctx, const Var& x, const LinearParameters& first, kernels::Activation activation,
                            const LinearParameters& second);

}  // namespace hearth::ops
