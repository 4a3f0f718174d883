#include "hearth/ops/row_exchange.h"

#include "hearth/ops/grad.h"

namespace hearth::ops {

Var gather_rows(Context& ctx, const Var& x, const RowExchange& exchange) {
  return ctx.record({"gather", {x}}, exchange.gathered(x.value()),
                    [x = x.edge(), &exchange](const Tensor& dy) { add_grad(x, exchange.sum_of_own(dy)); });
}

}  // namespace hearth::ops
