#pragma once

#include <cstdint>

#include "hearth/base/dtype.h"

namespace hearth::kernels {

enum class SoftmaxKind : std::uint8_t { plain, log };

// y = softmax(x) of each row, or its logarithm; both (rows, cols) of dtype `type`, computed in f32. In place is fine.
void softmax_forward(SoftmaxKind kind, DType type, std::int64_t rows, std::int64_t cols, const void* x, void* y);

// dx from forward's y. dx may be dy.
void softmax_backward(SoftmaxKind kind, DType type, std::int64_t rows, std::int64_t cols, const void* y, const void* dy,
                      void* dx);

}  // namespace hearth::kernels
