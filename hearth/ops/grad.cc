#include "hearth/ops/grad.h"

#include "hearth/base/check.h"
#include "hearth/base/profiler.h"
#include "hearth/kernels/rows/elementwise.h"

namespace hearth::ops {

GradTarget grad_target(const GradientEdge& x) {
  const bool accumulate = x.grad().defined();
  if (!accumulate) x.grad() = Tensor(x.shape(), x.type());
  return {x.grad(), accumulate};
}

GradTarget grad_target(Parameter& parameter) {
  const bool accumulate = parameter.has_grad;
  parameter.has_grad = true;
  parameter.grad_squares.reset();
  parameter.grad_rows.add_all();
  return {parameter.grad, accumulate};
}

Tensor grad_target(Parameter& embedding, std::span<const std::int32_t> rows) {
  embedding.begin_grad();
  embedding.grad_rows.add(rows);
  return embedding.grad;
}

void add_grad(const GradientEdge& x, Tensor dx) {
  check(dx.shape() == x.shape() && dx.type() == x.type(), "[add_grad] a gradient {} {} of a value {} {}",
        name_of(dx.type()), dx.shape().to_string(), name_of(x.type()), x.shape().to_string());
  if (!x.grad().defined()) {
    x.grad() = std::move(dx);
  } else {
    const Span span("gradient addition");
    kernels::add_into(dx.type(), dx.size(), dx.raw(), x.grad().raw());
  }
}

}  // namespace hearth::ops
