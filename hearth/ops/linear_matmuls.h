#pragma once

#include "hearth/kernels/gemm/gemm.h"
#include "hearth/ops/context.h"
#include "hearth/ops/grad.h"

namespace hearth::ops {

// The matmuls of y (T, N) = x (T, K) W^T + b, for ops that contain a linear layer.

// Those of the forward pass, where y has the memory of the result; `ctx` is null where a backward pass runs it again.
kernels::GemmArgs linear_forward(const Tensor& x, Parameter& weight, const Tensor& y, const Context* ctx);

// dy has the dtype of x. Those of a weight and a bias go into the gradient arena; a frozen one has none.
void linear_weight_grad(const Tensor& dy, const Tensor& x, Parameter& weight);
void linear_bias_grad(const Tensor& dy, Parameter& bias);
void linear_input_grad(const Tensor& dy, Parameter& weight, const GradTarget& dx);

}  // namespace hearth::ops
