#pragma once

#include "hearth/kernels/gemm/gemm.h"
#include "hearth/ops/context.h"
#include "hearth/ops/grad.h"

namespace hearth::ops {

// The matmuls of y (T, N) = x (T, K) W^T + b, for ops that contain a linear layer.

// Those of the forward pass, where y has the memory of the result; `ctx` is null where a backward pass runs it again.
kernels::GemmArgs linear_forward(const Tensor& x, Parameter& weight, const Tensor& y, const Context* ctx);

// Those of the backward pass, all in one parallel region. dy has the dtype of x. The gradients of the weight and the
// bias go into the gradient arena; a frozen one has none. `dx` is left out where no gradient of x is wanted, `bias` is
// null where there is none. If x is the output of an activation, `activated` may name it, and dx becomes the gradient
// of its input.
struct Activated {
  kernels::Activation activation = kernels::Activation::none;
  Tensor input = {};
};
void linear_backward(const Tensor& dy, const Tensor& x, Parameter& weight, Parameter* bias, const GradTarget& dx,
                     const Activated& activated = {});

}  // namespace hearth::ops
