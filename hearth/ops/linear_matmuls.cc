#include "hearth/ops/linear_matmuls.h"

#include <vector>

#include "hearth/base/profiler.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/ops/weights.h"

namespace hearth::ops {

kernels::GemmArgs linear_forward(const Tensor& x, Parameter& weight, const Tensor& y, const Context* ctx) {
  kernels::GemmArgs matmul;
  matmul.m = x.rows();
  matmul.n = weight.shape[0];
  matmul.k = weight.shape[1];
  matmul.type = x.type();
  matmul.a = x.raw();
  matmul.lda = matmul.k;
  set_weights(matmul, weight, true, ctx);
  matmul.c_type = y.type();
  matmul.c = y.raw();
  matmul.ldc = matmul.n;
  return matmul;
}

namespace {

// dW (N, K) = dy^T x, and the sums of dy (N), both over tokens.
kernels::GemmArgs weight_grad(const Tensor& dy, const Tensor& x, Parameter& weight) {
  const GradTarget target = grad_target(weight);
  kernels::GemmArgs matmul;
  matmul.m = weight.shape[0];
  matmul.n = weight.shape[1];
  matmul.k = x.rows();
  matmul.type = x.type();
  matmul.a = dy.raw();
  matmul.lda = matmul.m;
  matmul.a_transposed = true;
  matmul.b = x.raw();
  matmul.ldb = matmul.n;
  matmul.c = target.tensor.raw();
  matmul.ldc = matmul.n;
  matmul.accumulate = target.accumulate;
  matmul.non_temporal = target.tensor.bytes() >= kernels::kLargeBytes;
  return matmul;
}

// dx (T, K) = dy W
kernels::GemmArgs input_grad(const Tensor& dy, Parameter& weight, const GradTarget& dx) {
  kernels::GemmArgs matmul;
  matmul.m = dy.rows();
  matmul.n = weight.shape[1];
  matmul.k = weight.shape[0];
  matmul.type = dy.type();
  matmul.a = dy.raw();
  matmul.lda = matmul.k;
  set_weights(matmul, weight, false);
  matmul.c_type = dx.tensor.type();
  matmul.c = dx.tensor.raw();
  matmul.ldc = matmul.n;
  matmul.accumulate = dx.accumulate;
  return matmul;
}

}  // namespace

void linear_backward(const Tensor& dy, const Tensor& x, Parameter& weight, Parameter* bias, const GradTarget& dx,
                     const Activated& activated) {
  const Span span("linear backward");
  const bool bias_needs_grad = bias != nullptr && bias->trainable;
  std::vector<kernels::GemmArgs> matmuls;
  double squares = 0;
  if (weight.trainable) {
    matmuls.push_back(weight_grad(dy, x, weight));
    matmuls.back().c_squares = &squares;
  }
  if (bias_needs_grad) {
    const GradTarget target = grad_target(*bias);
    float* const sums = target.tensor.data<float>();
    if (weight.trainable) {
      matmuls.back().a_sums = sums;
      matmuls.back().accumulate_a_sums = target.accumulate;
    } else {
      kernels::column_sums(dy.type(), dy.rows(), dy.row_size(), dy.raw(), dy.row_size(), sums, target.accumulate);
    }
  }
  if (dx.tensor.defined()) {
    matmuls.push_back(input_grad(dy, weight, dx));
    matmuls.back().activation = activated.activation;
    matmuls.back().slope_at = activated.input.raw();
  }
  kernels::gemm_together(matmuls);
  if (weight.trainable) weight.grad_squares = squares;
}

}  // namespace hearth::ops
