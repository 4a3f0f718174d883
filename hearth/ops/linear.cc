#include "hearth/ops/linear.h"

#include "hearth/base/check.h"
#include "hearth/base/profiler.h"
#include "hearth/ops/cast.h"
#include "hearth/ops/linear_matmuls.h"

namespace hearth::ops {
namespace {

// f(x W^T + b). `before`, if defined, receives what f is applied to.
Tensor linear_value(Context& ctx, const Tensor& x, const LinearParameters& layer, kernels::Activation activation,
                    const Tensor& before, DType out) {
  const Span span("linear forward");
  const Tensor y({x.rows(), layer.weight->shape[0]}, out);
  kernels::GemmArgs matmul = linear_forward(x, *layer.weight, y, &ctx);
  matmul.bias = layer.bias == nullptr ? nullptr : ctx.acquire(*layer.bias).data<float>();
  matmul.activation = activation;
  matmul.before_activation = before.raw();
  kernels::gemm(matmul);
  return y;
}

void check_linear(std::string_view op, const Shape& input, const LinearParameters& layer) {
  check_matrix(op, *layer.weight);
  check_vector(op, layer.bias, layer.weight->shape[0]);
  check(input[input.rank() - 1] == layer.weight->shape[1], "[{}] the input {} does not fit the weight {} {}", op,
        input.to_string(), layer.weight->parts.front().name, layer.weight->shape.to_string());
}

}  // namespace

Var linear(Context& ctx, const Var& x, Parameter& weight, Parameter* bias, kernels::Activation activation, DType out) {
  check_floats("linear", x.value());
  const LinearParameters layer{&weight, bias};
  check_linear("linear", x.value().shape(), layer);
  const Op op{"linear", {x}, {&weight, bias}};
  const bool keeps_before = activation != kernels::Activation::none && ctx.needs_grad(op);
  Tensor before = keeps_before ? Tensor({x.value().rows(), weight.shape[0]}, out) : Tensor();
  const Tensor y = linear_value(ctx, x.value(), layer, activation, before, out);

  return ctx.record(op, y, [x, &weight, bias, activation, before](Tensor dy) mutable {
    if (before.defined()) {
      const Span activation_span("activation backward");
      kernels::activation_backward(activation, dy.type(), dy.size(), before.raw(), dy.raw(), dy.raw());
      before = Tensor();
    }
    dy = in_dtype(std::move(dy), x.value().type());
    linear_backward(dy, x.value(), weight, bias, x.needs_grad() ? grad_target(x) : GradTarget());
  });
}

Var feed_forward(Context& ctx, const Var& x, const LinearParameters& first, kernels::Activation activation,
                 const LinearParameters& second) {
  check_floats("feed_forward", x.value());
  check_linear("feed_forward", x.value().shape(), first);
  const Shape hidden_shape{x.value().rows(), first.weight->shape[0]};
  check_linear("feed_forward", hidden_shape, second);
  // A report of a NaN names the layer of the first parameter here: the second layer, because `hidden` is checked below.
  const Op op{"feed_forward", {x}, {second.weight, second.bias, first.weight, first.bias}};
  const Op hidden_op{"linear", {x}, {first.weight, first.bias}};
  const bool hidden_needs_grad = ctx.needs_grad(hidden_op);
  Tensor before = hidden_needs_grad ? Tensor(hidden_shape, ctx.compute) : Tensor();
  Tensor hidden = linear_value(ctx, x.value(), first, activation, before, ctx.compute);
  if (ctx.finite_check != nullptr) ctx.finite_check->look_at(hidden_op, hidden);
  const Tensor y = linear_value(ctx, hidden, second, kernels::Activation::none, Tensor(), ctx.compute);

  return ctx.record(op, y, [x, first, activation, second, before, hidden, hidden_needs_grad](const Tensor& dy) mutable {
    const Tensor dhidden = hidden_needs_grad ? Tensor(hidden.shape(), hidden.type()) : Tensor();
    linear_backward(dy, hidden, *second.weight, second.bias, {dhidden, false}, {activation, before});
    before = hidden = Tensor();
    if (!hidden_needs_grad) return;
    const Tensor dbefore = in_dtype(dhidden, x.value().type());
    linear_backward(dbefore, x.value(), *first.weight, first.bias, x.needs_grad() ? grad_target(x) : GradTarget());
  });
}

}  // namespace hearth::ops
