#pragma once

#include <cmath>
#include <cstdint>

#include "hearth/base/dtype.h"
#include "hearth/base/random.h"
#include "hearth/kernels/rows/sequences.h"

namespace hearth::kernels {

inline constexpr std::int64_t kDropoutBlock = 128;  // elements of a row

// Dropout is a function of (seed, step, site) in the key and (sample, row, element): it does not depend on threads,
// ranks, packing or recomputation. Elements of a row come in blocks of 128; lane l (0..15) of block b is
// philox({16 b + l, row, sample, 0}, key), and element 128 b + 64 h + 16 w + l of the row takes half h (0 low, 1 high)
// of its word w. An element is kept where that 16-bit number is at least round(p * 65536), and is then multiplied by
// 1 / (1 - p).
struct Dropout {
  float p = 0;
  PhiloxKey key;

  bool active() const { return p > 0; }
  std::uint32_t threshold() const { return static_cast<std::uint32_t>(std::lround(p * 65536.0f)); }
  float scale() const { return 1.0f / (1.0f - p); }
};

// The definition above for one element; the fast kernels are tested against it.
bool dropout_keeps(const Dropout& dropout, std::uint32_t sample, std::uint32_t row, std::uint32_t element);

// y = dropout(x), both (T, cols) of dtype `type`; the row of a token is its position in its sequence. Backward is the
// same call on the gradient. In place is fine.
void dropout_rows(DType type, const Sequences& sequences, std::int64_t cols, const Dropout& dropout, const void* x,
                  void* y);

}  // namespace hearth::kernels
