#include "hearth/ops/linear.h"

#include "hearth/base/check.h"
#include "hearth/base/profiler.h"
#include "hearth/ops/cast.h"
#include "hearth/ops/linear_matmuls.h"

namespace hearth::ops {

Var linear(Context& ctx, const Var& x, Parameter& weight, Parameter* bias, kernels::Activation activation, DType out) {
  const Span span("linear forward");
  check_floats("linear", x.value());
  check_matrix("linear", weight);
  check_vector("linear", bias, weight.shape[0]);
  check(x.value().row_size() == weight.shape[1], "[linear] the input {} does not fit the weight {} {}",
        x.value().shape().to_string(), weight.parts.front().name, weight.shape.to_string());
  const Op op{"linear", {x}, {&weight, bias}};
  const bool activates = activation != kernels::Activation::none;
  const Tensor y({x.value().rows(), weight.shape[0]}, out);
  Tensor before = activates && ctx.needs_grad(op) ? Tensor(y.shape(), out) : Tensor();

  kernels::GemmArgs matmul = linear_forward(x.value(), weight, y, &ctx);
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
    linear_backward(dy, x.value(), weight, bias, x.needs_grad() ? grad_target(x) : GradTarget());
  });
}

}  // namespace hearth::ops
