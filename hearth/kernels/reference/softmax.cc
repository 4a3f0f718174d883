#include <algorithm>
#include <cmath>
#include <limits>

#include "hearth/kernels/reference/numbers.h"
#include "hearth/kernels/reference/reference.h"

namespace hearth::kernels::reference {

void softmax_forward(SoftmaxKind kind, DType type, std::int64_t rows, std::int64_t cols, const void* x, void* y) {
  for (std::int64_t first = 0; first < rows * cols; first += cols) {
    double max = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::int64_t i = first; i < first + cols; ++i) max = std::max(max, get(type, x, i));
    for (std::int64_t i = first; i < first + cols; ++i) sum += std::exp(get(type, x, i) - max);
    for (std::int64_t i = first; i < first + cols; ++i) {
      const double shifted = get(type, x, i) - max;
      set(type, y, i, kind == SoftmaxKind::plain ? std::exp(shifted) / sum : shifted - std::log(sum));
    }
  }
}

void softmax_backward(SoftmaxKind kind, DType type, std::int64_t rows, std::int64_t cols, const void* y, const void* dy,
                      void* dx) {
  const bool plain = kind == SoftmaxKind::plain;
  for (std::int64_t first = 0; first < rows * cols; first += cols) {
    double sum = 0;
    for (std::int64_t i = first; i < first + cols; ++i) sum += get(type, dy, i) * (plain ? get(type, y, i) : 1);
    for (std::int64_t i = first; i < first + cols; ++i) {
      const double value = get(type, y, i), slope = get(type, dy, i);
      set(type, dx, i, plain ? value * (slope - sum) : slope - std::exp(value) * sum);
    }
  }
}

}  // namespace hearth::kernels::reference
