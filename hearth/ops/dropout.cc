#include "hearth/ops/dropout.h"

#include "hearth/base/profiler.h"
#include "hearth/ops/grad.h"

namespace hearth::ops {

Var dropout(Context& ctx, const Var& x, float p, std::uint32_t site) {
  const kernels::Dropout dropout = ctx.dropout(p, site);
  if (!dropout.active()) return x;
  const Span span("dropout forward");
  check_floats("dropout", x.value());
  const kernels::Sequences sequences = ctx.rows_of("dropout", x.value());
  Tensor y(x.value().shape(), x.value().type());
  kernels::dropout_rows(y.type(), sequences, y.row_size(), dropout, x.value().raw(), y.raw());
  return ctx.record({"dropout", {x}}, y, [x = x.edge(), dropout, sequences](Tensor dy) {
    const Span backward_span("dropout backward");
    kernels::dropout_rows(dy.type(), sequences, dy.row_size(), dropout, dy.raw(), dy.raw());
    add_grad(x, std::move(dy));
  });
}

}  // namespace hearth::ops
