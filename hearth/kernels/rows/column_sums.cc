#include "hearth/kernels/rows/column_sums.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/rows/column_sums.cc"
#include "hearth/base/rounding.h"
#include "hearth/kernels/simd/simd.h"
// After simd.h.
#include <hwy/foreach_target.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "hearth/cpu/parallel.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/kernels/simd/chunks.h"
#include "hearth/kernels/simd/scratch.h"
#include "hearth/kernels/simd/simd-inl.h"
#include "hearth/kernels/simd/visit.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {
namespace {

template <class T>
void add_row(std::int64_t cols, const T* x, float* sums) {
  const F32 d;
  for_vectors(d, cols, [&](std::int64_t i, auto lanes) HWY_ATTR {
    lanes.store(d, hn::Add(lanes.load(d, sums + i), lanes.load(d, x + i)), sums + i);
  });
}

// sums = the column sums of `rows` rows of x, from column `first` on, `cols` of them.
void sum_rows(DType type, std::int64_t rows, std::int64_t first, std::int64_t cols, const void* x, std::int64_t ldx,
              float* sums) {
  std::fill_n(sums, cols, 0.0f);
  visit_float(type, [&](auto value) HWY_ATTR {
    const auto* from = static_cast<const decltype(value)*>(x) + first;
    for (std::int64_t row = 0; row < rows; ++row) add_row(cols, from + row * ldx, sums);
  });
}

}  // namespace
}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearth::kernels {

void add_in_order(std::int64_t count, std::int64_t cols, std::span<const PartialSums> all) {
  constexpr std::int64_t kColumns = 64;
  const auto sum = HEARTH_SIMD(sum_rows);
  const auto add = HEARTH_SIMD(add_row<float>);
  const std::int64_t chunks = divide_up(cols, kColumns);
  cpu::parallel_for(std::ssize(all) * chunks, [&](std::int64_t task) {
    const auto& [parts, sums, accumulate] = all[static_cast<std::size_t>(task / chunks)];
    if (sums == nullptr) return;
    const std::int64_t first = task % chunks * kColumns, width = std::min(kColumns, cols - first);
    if (!accumulate) return sum(DType::f32, count, first, width, parts, cols, sums + first);
    float total[kColumns];
    sum(DType::f32, count, first, width, parts, cols, total);
    add(width, total, sums + first);
  });
}

void column_sums(DType type, std::int64_t rows, std::int64_t cols, const void* x, std::int64_t ldx, float* sums,
                 bool accumulate) {
  const std::int64_t row_chunks = divide_up(rows, kSumChunk);
  const std::int64_t column_chunks = divide_up(cols, kColumnChunk);
  float* const partial_sums = scratch<float, Scratch::partial_sums>(row_chunks * cols);  // (row_chunks, cols)
  const auto sum = HEARTH_SIMD(sum_rows);
  cpu::parallel_for(row_chunks * column_chunks, [&](std::int64_t task) {
    const std::int64_t chunk = task / column_chunks, row = chunk * kSumChunk;
    const std::int64_t first = task % column_chunks * kColumnChunk;
    const auto* rows_of_x = static_cast<const std::byte*>(x) + static_cast<std::size_t>(row * ldx) * size_of(type);
    sum(type, std::min(kSumChunk, rows - row), first, std::min(kColumnChunk, cols - first), rows_of_x, ldx,
        partial_sums + chunk * cols + first);
  });
  add_in_order(row_chunks, cols, std::array{PartialSums{partial_sums, sums, accumulate}});
}

}  // namespace hearth::kernels
#endif
