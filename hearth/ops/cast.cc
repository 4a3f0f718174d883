#include "hearth/ops/cast.h"

#include "hearth/kernels/rows/elementwise.h"
#include "hearth/ops/grad.h"

namespace hearth::ops {

Tensor in_dtype(Tensor x, DType type) {
  if (x.type() == type) return x;
  Tensor y(x.shape(), type);
  kernels::convert(x.type(), x.raw(), type, y.raw(), x.size());
  return y;
}

Var cast(Context& ctx, const Var& x, DType type) {
  check_floats("cast", x.value());
  check_floats("cast", Tensor({0}, type));
  if (x.value().type() == type) return x;
  return ctx.record({"cast", {x}}, in_dtype(x.value(), type),
                    [x = x.edge()](Tensor dy) { add_grad(x, in_dtype(std::move(dy), x.type())); });
}

}  // namespace hearth::ops
