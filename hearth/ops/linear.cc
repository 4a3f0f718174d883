#include "hearth/ops/linear.h"

#include "hearth/base/check.h"
#include "hearth/base/profiler.h"
#include "hearth/kernels/gemm/gemm.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/ops/cast.h"
#include "hearth/ops/grad.h"
#include "hearth/ops/weights.h"

namespace hearth::ops {
namespace {

// dW (N, K) = dy^T x, summed over tokens, straight into the gradient arena.
void weight_grad(const Tensor& dy, const Tensor& x, Parameter& weight) {
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

// dx (T, K) = dy W
void input_grad(const Tensor& dy, Parameter& weight, const Var& x) {
  const Span span("linear input gradient");
  const GradTarget target = grad_target(x);
  kernels::GemmArgs matmul;
  matmul.m = dy.rows();
  matmul.n = weight.shape[1];
  matmul.k = weight.shape[0];
  matmul.type = dy.type();
  matmul.a = dy.raw();
  matmul.lda = matmul.k;
  set_weights(matmul, weight, false);
  matmul.c_type = target.tensor.type();
  matmul.c = target.tensor.raw();
  matmul.ldc = matmul.n;
  matmul.accumulate = target.accumulate;
  kernels::gemm(matmul);
}

}  // namespace

Var linear(Context& ctx, const Var& x, Parameter& weight, Parameter* bias, kernels::Activation activation, DType out) {
  const Span span("linear forward");
  check_floats("linear", x.value());
  check_matrix("linear", weight);
  check_vector("linear", bias, weight.shape[0]);
  const std::int64_t tokens = x.value().rows(), outputs = weight.shape[0], inputs = weight.shape[1];
  check(x.value().row_size() == inputs, "[linear] the input {} does not fit the weight {} {}",
        x.value().shape().to_string(), weight.parts.front().name, weight.shape.to_string());
  const Op op{"linear", {x}, {&weight, bias}};
  const bool activates = activation != kernels::Activation::none;
  Tensor y({tokens, outputs}, out);
  Tensor before = activates && ctx.needs_grad(op) ? Tensor(y.shape(), out) : Tensor();

  kernels::GemmArgs matmul;
  matmul.m = tokens;
  matmul.n = outputs;
  matmul.k = inputs;
  matmul.type = x.value().type();
  matmul.a = x.value().raw();
  matmul.lda = inputs;
  set_weights(matmul, weight, true, &ctx);
  matmul.c_type = out;
  matmul.c = y.raw();
  matmul.ldc = outputs;
  matmul.bias = bias == nullptr ? nullptr : ctx.acquire(*bias).data<float>();
  matmul.activation = activation;
  matmul.before_activation = before.raw();
  kernels::gemm(matmul);

  return ctx.record(op, y, [x, &weight, bias, activation, before](Tensor dy) mutable {
    if (before.defined()) {
      const Span activation_span("activation backward");
      kernels::activation_backward(activation, dy.type(), dy.size(), before.raw(), dy.raw(), dy.raw());
      before = Tensor();
    }
    dy = in_dtype(std::move(dy), x.value().type());
    if (bias != nullptr && bias->trainable) {
      const Span bias_span("linear bias gradient");
      const GradTarget target = grad_target(*bias);
      kernels::column_sums(dy.type(), dy.rows(), dy.row_size(), dy.raw(), dy.row_size(), target.tensor.data<float>(),
                           target.accumulate);
    }
    if (weight.trainable) weight_grad(dy, x.value(), weight);
    if (x.needs_grad()) input_grad(dy, weight, x);
  });
}

}  // namespace hearth::ops
