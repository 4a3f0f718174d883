#include "hearth/ops/context.h"

#include "hearth/base/check.h"

namespace hearth::ops {

kernels::Sequences tokens_of(const Batch& batch) { return {batch.starts, batch.key_counts, batch.samples}; }

kernels::Sequences sequence_rows_of(const Batch& batch) { return {batch.row_starts, batch.key_counts, batch.samples}; }

void check_tokens(const Context& ctx, std::string_view op, std::int64_t rows) {
  check(ctx.sequences.tokens() == rows, "[{}] the input has {} rows, but the sequences have {} tokens", op, rows,
        ctx.sequences.tokens());
}

}  // namespace hearth::ops
