#include "hearth/ops/softmax.h"

#include "hearth/base/check.h"
#include "hearth/kernels/rows/softmax.h"
#include "hearth/ops/grad.h"

namespace hearth::ops {
namespace {

using kernels::SoftmaxKind;

Var softmax_of_kind(Context& ctx, std::string_view name, SoftmaxKind kind, const Var& x) {
  check_floats(name, x.value());
  const Shape& shape = x.value().shape();
  check(shape.rank() > 0 && shape.size() > 0, "[{}] the input {} has no elements along a last axis", name,
        shape.to_string());
  const std::int64_t cols = shape[shape.rank() - 1], rows = shape.size() / cols;
  Tensor y(shape, x.value().type());
  kernels::softmax_forward(kind, y.type(), rows, cols, x.value().raw(), y.raw());
  return ctx.record({name, {x}}, y, [x = x.edge(), y, kind, rows, cols](Tensor dy) {
    kernels::softmax_backward(kind, dy.type(), rows, cols, y.raw(), dy.raw(), dy.raw());
    add_grad(x, std::move(dy));
  });
}

}  // namespace

Var softmax(Context& ctx, const Var& x) { return softmax_of_kind(ctx, "softmax", SoftmaxKind::plain, x); }
Var log_softmax(Context& ctx, const Var& x) { return softmax_of_kind(ctx, "log_softmax", SoftmaxKind::log, x); }

}  // namespace hearth::ops
