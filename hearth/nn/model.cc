#include "hearth/nn/model.h"

namespace hearth::nn {

kernels::Sequences sequences_of(const Batch& batch) { return {batch.starts, batch.keys, batch.samples}; }

kernels::Sequences sequence_rows_of(const Batch& batch) { return {batch.row_numbers, batch.keys, batch.samples}; }

}  // namespace hearth::nn
