#include "hearth/ops/elementwise.h"

#include "hearth/base/profiler.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/ops/grad.h"

namespace hearth::ops {
namespace {

using kernels::Pairwise;

Tensor pairwise(Pairwise kind, const Tensor& a, const Tensor& b) {
  Tensor y(a.shape(), a.type());
  kernels::pairwise(kind, y.type(), y.size(), a.raw(), b.raw(), y.raw());
  return y;
}

Tensor scaled(const Tensor& x, float factor) {
  Tensor y(x.shape(), x.type());
  kernels::scale(y.type(), y.size(), factor, x.raw(), y.raw());
  return y;
}

}  // namespace

Var add(Context& ctx, const Var& a, const Var& b) {
  check_same("add", a.value(), b.value());
  return ctx.record({"add", {a, b}}, pairwise(Pairwise::sum, a.value(), b.value()),
                    [a = a.edge(), b = b.edge()](Tensor dy) {
                      if (a.needs_grad()) add_grad(a, b.needs_grad() ? scaled(dy, 1) : dy);
                      if (b.needs_grad()) add_grad(b, std::move(dy));
                    });
}

Var subtract(Context& ctx, const Var& a, const Var& b) {
  check_same("subtract", a.value(), b.value());
  return ctx.record({"subtract", {a, b}}, pairwise(Pairwise::difference, a.value(), b.value()),
                    [a = a.edge(), b = b.edge()](Tensor dy) {
                      if (b.needs_grad()) add_grad(b, scaled(dy, -1));
                      if (a.needs_grad()) add_grad(a, std::move(dy));
                    });
}

Var multiply(Context& ctx, const Var& a, const Var& b) {
  check_same("multiply", a.value(), b.value());
  const Tensor left = value_for_grad_of(b, a), right = value_for_grad_of(a, b);
  return ctx.record({"multiply", {a, b}}, pairwise(Pairwise::product, a.value(), b.value()),
                    [a = a.edge(), b = b.edge(), left, right](const Tensor& dy) {
                      if (a.needs_grad()) add_grad(a, pairwise(Pairwise::product, dy, right));
                      if (b.needs_grad()) add_grad(b, pairwise(Pairwise::product, dy, left));
                    });
}

Var scale(Context& ctx, const Var& x, float factor) {
  check_floats("scale", x.value());
  return ctx.record({"scale", {x}}, scaled(x.value(), factor), [x = x.edge(), factor](Tensor dy) {
    kernels::scale(dy.type(), dy.size(), factor, dy.raw(), dy.raw());
    add_grad(x, std::move(dy));
  });
}

Var activation(Context& ctx, const Var& x, kernels::Activation kind) {
  check_floats("activation", x.value());
  const Span span("activation forward");
  Tensor y(x.value().shape(), x.value().type());
  kernels::activation_forward(kind, y.type(), y.size(), x.value().raw(), y.raw());
  return ctx.record({"activation", {x}}, y, [x, kind](Tensor dy) {
    const Span backward_span("activation backward");
    kernels::activation_backward(kind, dy.type(), dy.size(), x.value().raw(), dy.raw(), dy.raw());
    add_grad(x, std::move(dy));
  });
}

}  // namespace hearth::ops
