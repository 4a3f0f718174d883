#include "hearth/ops/linear.h"

#include "hearth/base/check.h"
#include "hearth/base/profiler.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/ops/cast.h"
#include "hearth/ops/linear_matmuls.h"

namespace hearth::ops {
namespace {

// y = f(x W^T + b). `before`, if defined, has the layout of y and receives what f is applied to.
void linear_value(Context& ctx, const MatmulOperand& x, const LinearParameters& layer, kernels::Activation activation,
                  const MatmulOperand& before, const MatmulOperand& y) {
  const Span span("linear forward");
  kernels::GemmArgs matmul = linear_forward(x, *layer.weight, y, &ctx);
  matmul.bias = layer.bias == nullptr ? nullptr : ctx.acquire(*layer.bias).data<float>();
  matmul.activation = activation;
  matmul.before_activation = before.values.raw();
  kernels::gemm(matmul);
}

// Looks at what an activation is applied to: most activations turn an infinity below zero into a finite number.
void look_before_activation(const Context& ctx, const Op& op, const Tensor& before) {
  if (ctx.finite_check != nullptr && before.defined()) ctx.finite_check->look_at(op, before);
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
  const bool is_read = ctx.needs_grad(op) || ctx.finite_check != nullptr;
  Tensor before =
      activation != kernels::Activation::none && is_read ? Tensor({x.value().rows(), weight.shape[0]}, out) : Tensor();
  const Tensor y({x.value().rows(), weight.shape[0]}, out);
  const MatmulOperand input = MatmulOperand::of_input(ctx, op, x.value(), weight);
  linear_value(ctx, input, layer, activation, before, y);
  look_before_activation(ctx, op, before);

  const MatmulOperand kept = weight.trainable ? input : MatmulOperand();
  return ctx.record(op, y, [x = x.edge(), kept, &weight, bias, activation, before](Tensor dy) mutable {
    if (before.defined()) {
      const Span activation_span("activation backward");
      kernels::activation_backward(activation, dy.type(), dy.size(), before.raw(), dy.raw(), dy.raw());
      before = Tensor();
    }
    dy = in_dtype(std::move(dy), x.type());
    linear_backward(dy, kept, {&weight, bias}, x.needs_grad() ? grad_target(x) : GradTarget());
  });
}

namespace {

// Nothing but matmuls reads what lies between the two layers, with one exception: if the first bias is trained and its
// weight is not, column_sums reads the gradient, which must then be in rows.
kernels::Layout layout_between(const Context& ctx, const Tensor& x, const LinearParameters& first) {
  const bool sums_bias_alone = !first.weight->trainable && first.bias != nullptr && first.bias->trainable;
  if (x.type() != ctx.compute || sums_bias_alone) return kernels::Layout::rows;
  return layout_between_matmuls(ctx.compute, x.rows(), first.weight->shape[0]);
}

}  // namespace

Var feed_forward(Context& ctx, const Var& x, const LinearParameters& first, kernels::Activation activation,
                 const LinearParameters& second) {
  check_floats("feed_forward", x.value());
  check_linear("feed_forward", x.value().shape(), first);
  const std::int64_t rows = x.value().rows(), width = first.weight->shape[0];
  check_linear("feed_forward", Shape{rows, width}, second);
  // A report of a NaN names the layer of the first parameter here: the second layer, because `hidden` is checked below.
  const Op op{"feed_forward", {x}, {second.weight, second.bias, first.weight, first.bias}};
  const Op hidden_op{"linear", {x}, {first.weight, first.bias}};
  const bool hidden_needs_grad = ctx.needs_grad(hidden_op);
  const kernels::Layout layout = layout_between(ctx, x.value(), first);
  MatmulOperand before, hidden(rows, width, ctx.compute, layout);
  if (hidden_needs_grad || ctx.finite_check != nullptr) before = MatmulOperand(rows, width, ctx.compute, layout);
  // The check reads the rows that fill up the last block, too.
  if (ctx.finite_check != nullptr && layout == kernels::Layout::blocks)
    for (const MatmulOperand& values : {before, hidden})
      kernels::fill(values.type(), values.values.size(), 0, values.values.raw());
  MatmulOperand input = MatmulOperand::of_input(ctx, hidden_op, x.value(), *first.weight);
  linear_value(ctx, input, first, activation, before, hidden);
  look_before_activation(ctx, hidden_op, before.values);
  if (ctx.finite_check != nullptr) ctx.finite_check->look_at(hidden_op, hidden.values);
  const Tensor y({rows, second.weight->shape[0]}, ctx.compute);
  linear_value(ctx, hidden, second, kernels::Activation::none, {}, y);

  // Backward computes `hidden` again in place of `before`, where it multiplies by the slope there.
  const bool again = hidden_needs_grad && computes_activation_again(rows);
  if (!hidden_needs_grad) before = {};
  if (again || !second.weight->trainable) hidden = {};
  if (!first.weight->trainable) input = {};

  return ctx.record(op, y, [x = x.edge(), input, first, activation, second, before, hidden, again](Tensor dy) mutable {
    const Span backward_span("linear backward");
    // Matmuls run in two groups: the second reads `dhidden`, which the first computes. The gradient of the second
    // weight is in the first group, unless the activation's output that it reads is computed there, in place of
    // `before`.
    LinearBackward matmuls;
    if (!again) matmuls.add_parameters(dy, hidden, second);
    if (!before.values.defined()) return matmuls.run();
    MatmulOperand dhidden(before.rows, before.cols(), before.type(), before.layout);
    matmuls.add_input(dy, *second.weight, {dhidden.values, false},
                      {activation, before, again && second.weight->trainable});
    matmuls.run();
    if (again) {
      matmuls.add_parameters(dy, before, second);
    } else {
      before = hidden = {};
      dy = Tensor();
    }
    dhidden.values = in_dtype(std::move(dhidden.values), x.type());
    matmuls.add_parameters(dhidden, input, first);
    matmuls.add_input(dhidden, *first.weight, x.needs_grad() ? grad_target(x) : GradTarget());
    matmuls.run();
  });
}

}  // namespace hearth::ops
