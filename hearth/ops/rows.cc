#include "hearth/ops/rows.h"

#include <cstring>

#include "hearth/kernels/rows/elementwise.h"
#include "hearth/ops/grad.h"

namespace hearth::ops {

Var first_tokens(Context& ctx, const Var& x) {
  const kernels::Sequences sequences = ctx.sequences;
  Tensor y({sequences.count(), x.value().row_size()}, x.value().type());
  for (std::int64_t s = 0; s < sequences.count(); ++s) {
    const std::int64_t token = sequences.starts[static_cast<std::size_t>(s)];
    y.slice(s, s + 1).copy_from(x.value().slice(token, token + 1));
  }
  return ctx.record({"first tokens", {x}}, y, [x, sequences](Tensor dy) {
    const GradTarget target = grad_target(x);
    if (!target.accumulate) target.tensor.fill_zero();
    for (std::int64_t s = 0; s < sequences.count(); ++s) {
      const std::int64_t token = sequences.starts[static_cast<std::size_t>(s)];
      kernels::add_into(dy.type(), dy.row_size(), dy.slice(s, s + 1).raw(),
                        target.tensor.slice(token, token + 1).raw());
    }
  });
}

}  // namespace hearth::ops
