#include "hearth/ops/linear.h"

#include "hearth/base/profiler.h"
#include "hearth/kernels/elementwise.h"
#include "hearth/kernels/gemm.h"
#include "hearth/ops/grad.h"
#include "hearth/ops/weights.h"

namespace hearth::ops {
namespace {

Tensor in_format(Tensor x, DType type) {
  if (x.type() == type) return x;
  Tensor y(x.shape(), type);
  kernels::convert(x.type(), x.raw(), type, y.raw(), x.size());
  return y;
}

// dW (N, K) = dy^T x, summed over tokens, straight into the gradient arena.
void weight_grad(const Tensor& dy, const Tensor& x, Parameter& weight) {
  const Span span("linear weight gradient");
  const GradTarget target = grad_target(weight);
  kernels::GemmArgs product;
  product.m = weight.shape[0];
  product.n = weight.shape[1];
  product.k = x.rows();
  product.type = x.type();
  product.a = dy.raw();
  product.lda = product.m;
  product.a_transposed = true;
  product.b = x.raw();
  product.ldb = product.n;
  product.c = target.tensor.raw();
  product.ldc = product.n;
  product.accumulate = target.accumulate;
  kernels::gemm(product);
}

// dx (T, K) = dy W
void input_grad(const Tensor& dy, Parameter& weight, const Var& x) {
  const Span span("linear input gradient");
  const GradTarget target = grad_target(x);
  kernels::GemmArgs product;
  product.m = dy.rows();
  product.n = weight.shape[1];
  product.k = weight.shape[0];
  product.type = dy.type();
  product.a = dy.raw();
  product.lda = product.k;
  set_weights(product, weight, false);
  product.c_type = target.tensor.type();
  product.c = target.tensor.raw();
  product.ldc = product.n;
  product.accumulate = target.accumulate;
  kernels::gemm(product);
}

}  // namespace

Var linear(Context& ctx, const Var& x, Parameter& weight, Parameter* bias, kernels::Activation activation, DType out) {
  const Span span("linear forward");
  const std::int64_t tokens = x.value().rows(), outputs = weight.shape[0], inputs = weight.shape[1];
  check(x.value().row_size() == inputs, "[linear] the input {} does not fit the weight {} {}",
        x.value().shape().to_string(), weight.parts.front().name, weight.shape.to_string());
  if (ctx.tape != nullptr) {
    ctx.tape->use(weight);
    if (bias != nullptr) ctx.tape->use(*bias);
  }
  const bool activates = activation != kernels::Activation::none;
  Tensor y({tokens, outputs}, out);
  Tensor before = activates && ctx.tape != nullptr ? Tensor(y.shape(), out) : Tensor();

  kernels::GemmArgs product;
  product.m = tokens;
  product.n = outputs;
  product.k = inputs;
  product.type = x.value().type();
  product.a = x.value().raw();
  product.lda = inputs;
  set_weights(product, weight, true);
  product.c_type = out;
  product.c = y.raw();
  product.ldc = outputs;
  product.bias = bias == nullptr ? nullptr : bias->master.data<float>();
  product.activation = activation;
  product.before_activation = before.raw();
  kernels::gemm(product);
  if (ctx.tape == nullptr) return Var(y);

  return ctx.tape->record(y, [x, &weight, bias, activation, before](Tensor dy) mutable {
    if (before.defined()) {
      const Span activation_span("activation backward");
      kernels::activation_backward(activation, dy.type(), dy.size(), before.raw(), dy.raw(), dy.raw());
      before = Tensor();
    }
    dy = in_format(std::move(dy), x.value().type());
    if (bias != nullptr) {
      const Span bias_span("linear bias gradient");
      const GradTarget target = grad_target(*bias);
      kernels::column_sums(dy.type(), dy.rows(), dy.row_size(), dy.raw(), dy.row_size(), target.tensor.data<float>(),
                           target.accumulate);
    }
    weight_grad(dy, x.value(), weight);
    if (x.needs_grad()) input_grad(dy, weight, x);
  });
}

}  // namespace hearth::ops
