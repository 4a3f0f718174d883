#include "hearth/ops/embedding.h"

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/base/profiler.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/kernels/rows/embedding.h"
#include "hearth/ops/grad.h"

namespace hearth::ops {

Var embedding_sum(Context& ctx, std::vector<Lookup> lookups) {
  const Span span("embedding forward");
  const auto tokens = static_cast<std::int64_t>(lookups.front().ids.size());
  const std::int64_t hidden = lookups.front().table->shape[1];
  Op op{"embedding"};
  Tensor sum({tokens, hidden}, DType::f32);
  for (const Lookup& lookup : lookups) {
    Parameter& table = *lookup.table;
    check(static_cast<std::int64_t>(lookup.ids.size()) == tokens && table.shape[1] == hidden,
          "[embedding_sum] {} does not have the width or the number of ids of the other embeddings",
          table.parts.front().name);
    for (const std::int32_t id : lookup.ids)
      check(0 <= id && id < table.shape[0], "[embedding_sum] id {} is out of range for {}, which has {} rows", id,
            table.parts.front().name, table.shape[0]);
    op.parameters.push_back(&table);
    const Tensor& rows = ctx.acquire_rows(table, lookup.ids);
    kernels::embedding_forward(DType::f32, tokens, hidden, lookup.ids.data(), rows.data<float>(), sum.raw(),
                               &lookup != &lookups.front());
  }
  Tensor y = sum;
  if (ctx.compute != DType::f32) {
    y = Tensor(sum.shape(), ctx.compute);
    kernels::convert(DType::f32, sum.raw(), ctx.compute, y.raw(), sum.size());
  }
  std::erase_if(lookups, [&](const Lookup& lookup) { return !ctx.needs_grad(*lookup.table); });

  return ctx.record(op, y, [lookups = std::move(lookups)](Tensor dy) {
    const Span backward_span("embedding backward");
    for (const Lookup& lookup : lookups) {
      const Tensor dtable = grad_target(*lookup.table, lookup.ids);
      kernels::embedding_backward(dy.type(), dy.rows(), dy.row_size(), lookup.ids.data(), dy.raw(), dtable.rows(),
                                  lookup.padding_id, dtable.data<float>());
    }
  });
}

}  // namespace hearth::ops
