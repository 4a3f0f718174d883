#include <cmath>

#include "hearth/kernels/reference/numbers.h"
#include "hearth/kernels/reference/reference.h"

namespace hearth::kernels::reference {

void convert(DType from, const void* x, DType to, void* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) set(to, y, i, get(from, x, i));
}

void add_into(DType type, std::int64_t n, const void* x, void* y) {
  for (std::int64_t i = 0; i < n; ++i) set(type, y, i, get(type, y, i) + get(type, x, i));
}

void pairwise(Pairwise kind, DType type, std::int64_t n, const void* a, const void* b, void* y) {
  for (std::int64_t i = 0; i < n; ++i) {
    const double v = get(type, a, i), w = get(type, b, i);
    set(type, y, i, kind == Pairwise::sum ? v + w : kind == Pairwise::difference ? v - w : v * w);
  }
}

void scale(DType type, std::int64_t n, float factor, const void* x, void* y) {
  for (std::int64_t i = 0; i < n; ++i) set(type, y, i, get(type, x, i) * factor);
}

void fill(DType type, std::int64_t n, float value, void* y) {
  for (std::int64_t i = 0; i < n; ++i) set(type, y, i, value);
}

double total(DType type, std::int64_t n, const void* x) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += get(type, x, i);
  return sum;
}

bool all_finite(DType type, std::int64_t n, const void* x) {
  for (std::int64_t i = 0; i < n; ++i)
    if (!std::isfinite(get(type, x, i))) return false;
  return true;
}

void column_sums(DType type, std::int64_t rows, std::int64_t cols, const void* x, std::int64_t ldx, float* sums,
                 bool accumulate) {
  for (std::int64_t col = 0; col < cols; ++col) {
    double sum = accumulate ? sums[col] : 0.0;
    for (std::int64_t row = 0; row < rows; ++row) sum += get(type, x, row * ldx + col);
    sums[col] = static_cast<float>(sum);
  }
}

void embedding_forward(DType type, std::int64_t tokens, std::int64_t cols, const std::int32_t* ids, const float* table,
                       void* y, bool accumulate) {
  for (std::int64_t t = 0; t < tokens; ++t) {
    for (std::int64_t col = 0; col < cols; ++col) {
      const double value = table[ids[t] * cols + col];
      set(type, y, t * cols + col, accumulate ? get(type, y, t * cols + col) + value : value);
    }
  }
}

void embedding_backward(DType type, std::int64_t tokens, std::int64_t cols, const std::int32_t* ids, const void* dy,
                        std::int64_t, std::int32_t padding_id, float* dtable) {
  for (std::int64_t t = 0; t < tokens; ++t) {
    if (ids[t] == padding_id) continue;
    for (std::int64_t col = 0; col < cols; ++col)
      dtable[ids[t] * cols + col] += static_cast<float>(get(type, dy, t * cols + col));
  }
}

}  // namespace hearth::kernels::reference
