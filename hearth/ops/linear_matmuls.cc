#include "hearth/ops/linear_matmuls.h"

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

// dW (N, K) = dy^T x, summed over tokens.
void linear_weight_grad(const Tensor& dy, const Tensor& x, Parameter& weight) {
  if (!weight.trainable) return;
  const Span span("linear weight gradient");
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
  kernels::gemm(matmul);
}

void linear_bias_grad(const Tensor& dy, Parameter& bias) {
  if (!bias.trainable) return;
  const Span span("linear bias gradient");
  const GradTarget target = grad_target(bias);
  kernels::column_sums(dy.type(), dy.rows(), dy.row_size(), dy.raw(), dy.row_size(), target.tensor.data<float>(),
                       target.accumulate);
}

// dx (T, K) = dy W
void linear_input_grad(const Tensor& dy, Parameter& weight, const GradTarget& dx) {
  const Span span("linear input gradient");
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
  kernels::gemm(matmul);
}

}  // namespace hearth::ops
