#pragma once

#include <cstdint>

#include "hearth/base/dtype.h"

namespace hearth::kernels {

// y[t] = [y[t] +] table[ids[t]]; the embedding `table` (rows, cols) is f32, y (T, cols) of dtype `type`.
void embedding_forward(DType type, std::int64_t tokens, std::int64_t cols, const std::int32_t* ids, const float* table,
                       void* y, bool accumulate);

// dtable[ids[t]] += dy[t] for all t with ids[t] != padding_id (-1: none). Each row is summed in the order of t,
// whatever the number of threads.
void embedding_backward(DType type, std::int64_t tokens, std::int64_t cols, const std::int32_t* ids, const void* dy,
                        std::int64_t rows, std::int32_t padding_id, float* dtable);

}  // namespace hearth::kernels
