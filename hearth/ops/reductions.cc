#include "hearth/ops/reductions.h"

#include "hearth/base/check.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/ops/grad.h"

namespace hearth::ops {
namespace {

// factor * the sum of all elements
Var scaled_sum(Context& ctx, std::string_view name, const Var& x, double factor) {
  check_floats(name, x.value());
  Tensor y(Shape{}, DType::f32);
  *y.data<float>() = static_cast<float>(factor * kernels::total(x.value().type(), x.value().size(), x.value().raw()));
  return ctx.record({name, {x}}, y, [x = x.edge(), factor](const Tensor& dy) {
    Tensor dx(x.shape(), x.type());
    kernels::fill(dx.type(), dx.size(), static_cast<float>(factor * dy.item()), dx.raw());
    add_grad(x, std::move(dx));
  });
}

}  // namespace

Var sum(Context& ctx, const Var& x) { return scaled_sum(ctx, "sum", x, 1); }

Var mean(Context& ctx, const Var& x) {
  check(x.value().size() > 0, "[mean] the input {} has no elements", x.value().shape().to_string());
  return scaled_sum(ctx, "mean", x, 1.0 / static_cast<double>(x.value().size()));
}

}  // namespace hearth::ops
