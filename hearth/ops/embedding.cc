#include "hearth/ops/embedding.h"

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/base/profiler.h"
#include "hearth/kernels/rows/embedding.h"
#include "hearth/ops/cast.h"
#include "hearth/ops/grad.h"

namespace hearth::ops {

Var embedding_sum(Context& ctx, std::vector<Lookup> lookups) {
  const Span span("embedding forward");
  check(!lookups.empty(), "[embedding_sum] there is nothing to look up");
  for (const Lookup& lookup : lookups) {
    check(lookup.table != nullptr, "[embedding_sum] a lookup has no table");
    check_matrix("embedding_sum", *lookup.table);
  }
  const auto tokens = static_cast<std::int64_t>(lookups.front().ids.size());
  const std::int64_t hidden = lookups.front().table->shape[1];
  Op op{"embedding"};
  Tensor sum({tokens, hidden}, DType::f32);
  for (const Lookup& lookup : lookups) {
    Parameter& table = *lookup.table;
    check(static_cast<std::int64_t>(lookup.ids.size()) == tokens && table.shape[1] == hidden,
          "[embedding_sum] {} ids of {} {} do not fit {} ids of {} {}", lookup.ids.size(), table.parts.front().name,
          table.shape.to_string(), tokens, lookups.front().table->parts.front().name,
          lookups.front().table->shape.to_string());
    for (const std::int32_t id : lookup.ids)
      check(0 <= id && id < table.shape[0], "[embedding_sum] id {} is out of range for {}, which has {} rows", id,
            table.parts.front().name, table.shape[0]);
    op.parameters.push_back(&table);
    const Tensor& rows = ctx.acquire_rows(table, lookup.ids);
    kernels::embedding_forward(DType::f32, tokens, hidden, lookup.ids.data(), rows.data<float>(), sum.raw(),
                               &lookup != &lookups.front());
  }
  const Tensor y = in_dtype(std::move(sum), ctx.compute);
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
