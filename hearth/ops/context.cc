#include "hearth/ops/context.h"

namespace hearth::ops {

kernels::Sequences tokens_of(const Batch& batch) { return {batch.starts, batch.key_counts, batch.samples}; }

kernels::Sequences sequence_rows_of(const Batch& batch) { return {batch.row_starts, batch.key_counts, batch.samples}; }

}  // namespace hearth::ops
