#include "hearth/ops/matmul.h"

#include "hearth/base/check.h"
#include "hearth/base/profiler.h"
#include "hearth/ops/cast.h"
#include "hearth/ops/grad.h"
#include "hearth/ops/multiply.h"

namespace hearth::ops {
namespace {

// The gradient of x, where x or its transpose was an operand whose gradient is left right.
void add_product(const GradientEdge& x, bool transposed, const Operand& left, const Operand& right) {
  if (!x.needs_grad()) return;
  const GradTarget target = grad_target(x);
  if (transposed) {
    multiply_into(right.transpose(), left.transpose(), target.tensor, target.accumulate);
  } else {
    multiply_into(left, right, target.tensor, target.accumulate);
  }
}

}  // namespace

Var matmul(Context& ctx, const Var& a, const Var& b, const MatmulOptions& options) {
  const Span span("matmul forward");
  const Operand left{a.value(), options.transpose_a}, right{b.value(), options.transpose_b};
  check_floats("matmul", a.value());
  check(a.value().shape().rank() == 2 && b.value().shape().rank() == 2 && left.cols() == right.rows() &&
            a.value().type() == b.value().type(),
        "[matmul] {} {}{} and {} {}{} do not fit", name_of(a.value().type()), a.value().shape().to_string(),
        options.transpose_a ? " transposed" : "", name_of(b.value().type()), b.value().shape().to_string(),
        options.transpose_b ? " transposed" : "");
  Tensor y({left.rows(), right.cols()}, options.out.value_or(a.value().type()));
  check_floats("matmul", y);
  multiply_into(left, right, y, false);
  const Tensor a_value = value_for_grad_of(b, a), b_value = value_for_grad_of(a, b);
  return ctx.record({"matmul", {a, b}}, y, [a = a.edge(), b = b.edge(), a_value, b_value, options](Tensor dy) {
    const Span backward_span("matmul backward");
    dy = in_dtype(std::move(dy), a.type());
    const Operand slope{dy};
    add_product(a, options.transpose_a, slope, Operand{b_value, options.transpose_b}.transpose());  // dA = dY B^T
    add_product(b, options.transpose_b, Operand{a_value, options.transpose_a}.transpose(), slope);  // dB = A^T dY
  });
}

}  // namespace hearth::ops
