#include "hearth/ops/matmul.h"

#include "hearth/base/check.h"
#include "hearth/base/profiler.h"
#include "hearth/kernels/gemm/gemm.h"
#include "hearth/ops/cast.h"
#include "hearth/ops/grad.h"

namespace hearth::ops {
namespace {

// A matrix as an operand of a matmul: itself, or its transpose.
struct Operand {
  const Tensor& stored;
  bool transposed = false;

  std::int64_t rows() const { return stored.shape()[transposed ? 1 : 0]; }
  std::int64_t cols() const { return stored.shape()[transposed ? 0 : 1]; }
  Operand transpose() const { return {stored, !transposed}; }
};

// out = [out +] left right
void multiply_into(const Operand& left, const Operand& right, const Tensor& out, bool accumulate) {
  kernels::GemmArgs matmul;
  matmul.m = left.rows();
  matmul.n = right.cols();
  matmul.k = left.cols();
  matmul.type = left.stored.type();
  matmul.a = left.stored.raw();
  matmul.lda = left.stored.shape()[1];
  matmul.a_transposed = left.transposed;
  matmul.b = right.stored.raw();
  matmul.ldb = right.stored.shape()[1];
  matmul.b_transposed = right.transposed;
  matmul.c_type = out.type();
  matmul.c = out.raw();
  matmul.ldc = matmul.n;
  matmul.accumulate = accumulate;
  kernels::gemm(matmul);
}

// The gradient of x, where x or its transpose was an operand whose gradient is left right.
void add_product(const Var& x, bool transposed, const Operand& left, const Operand& right) {
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
  return ctx.record({"matmul", {a, b}}, y, [a, b, options](Tensor dy) {
    const Span backward_span("matmul backward");
    dy = in_dtype(std::move(dy), a.value().type());
    const Operand slope{dy};
    add_product(a, options.transpose_a, slope, Operand{b.value(), options.transpose_b}.transpose());  // dA = dY B^T
    add_product(b, options.transpose_b, Operand{a.value(), options.transpose_a}.transpose(), slope);  // dB = A^T dY
  });
}

}  // namespace hearth::ops
