#include "hearth/kernels/rows/dropout.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/rows/dropout.cc"
#include "hearth/kernels/simd/simd.h"
// After simd.h.
#include <hwy/foreach_target.h>

#include "hearth/cpu/parallel.h"
#include "hearth/kernels/rows/dropout-inl.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/kernels/rows/token_cursor.h"
#include "hearth/kernels/simd/chunks.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {
namespace {

template <class T>
void drop_row(const Dropout& dropout, const TokenCursor& token, std::int64_t cols, const T* x, T* y) {
  const F32 d;
  for_dropout_vectors(d, dropout, token.sample(), token.position(), cols,
                      [&](std::int64_t i, auto lanes, auto factor)
                          HWY_ATTR { lanes.store(d, hn::Mul(lanes.load(d, x + i), factor), y + i); });
}

void drop_rows(DType type, const Sequences& sequences, std::int64_t cols, const Dropout& dropout, std::int64_t begin,
               std::int64_t end, const void* x, void* y) {
  visit_stored(type, [&](auto value) HWY_ATTR {
    using T = decltype(value);
    TokenCursor token(sequences, begin);
    for (std::int64_t row = begin; row < end; ++row, token.next())
      drop_row(dropout, token, cols, static_cast<const T*>(x) + row * cols, static_cast<T*>(y) + row * cols);
  });
}

}  // namespace
}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearth::kernels {

bool dropout_keeps(const Dropout& dropout, std::uint32_t sample, std::uint32_t row, std::uint32_t element) {
  const std::uint32_t block = element / 128, half = element / 64 % 2, word = element / 16 % 4, lane = element % 16;
  const std::uint32_t bits = philox({16 * block + lane, row, sample, 0}, dropout.key)[word];
  return ((bits >> (16 * half)) & 0xffffu) >= dropout.threshold();
}

void dropout_rows(DType type, const Sequences& sequences, std::int64_t cols, const Dropout& dropout, const void* x,
                  void* y) {
  const std::int64_t tokens = sequences.tokens();
  if (!dropout.active()) {
    if (x != y) convert(type, x, type, y, tokens * cols);
    return;
  }
  const auto run = HEARTH_SIMD(drop_rows);
  cpu::parallel_chunks(tokens, kRowChunk, [&](std::int64_t begin, std::int64_t end) {
    run(type, sequences, cols, dropout, begin, end, x, y);
  });
}

}  // namespace hearth::kernels
#endif
