#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/update/sum_of_squares.cc"
#include "hearth/base/rounding.h"
#include "hearth/kernels/simd/simd.h"
// After simd.h.
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>

#include <numeric>

#include "hearth/cpu/parallel.h"
#include "hearth/kernels/simd/chunks.h"
#include "hearth/kernels/simd/scratch.h"
#include "hearth/kernels/simd/simd-inl.h"
#include "hearth/kernels/update/optimizer.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {
namespace {

// Prefetch distance in numbers: one core of an Intel server reads a fifth faster with it (docs/performance-steps.md,
// "Steps taken").
constexpr std::int64_t kSquaresAhead = 1024;

template <bool prefetches>
HWY_INLINE double sum_of_squares_of(std::int64_t rows, std::int64_t cols, const float* x, std::int64_t ld) {
  const F32 d;
  const hn::Half<F32> dh;
  const hn::RepartitionToWide<F32> dw;
  auto sum0 = hn::Zero(dw), sum1 = hn::Zero(dw);
  for (std::int64_t row = 0; row < rows; ++row, x += ld)
    for_vectors(d, cols, [&](std::int64_t i, auto lanes) HWY_ATTR {
      if constexpr (prefetches) hwy::Prefetch(x + i + kSquaresAhead);
      const auto v = lanes.load(d, x + i);
      const auto low = hn::PromoteTo(dw, hn::LowerHalf(dh, v)), high = hn::PromoteTo(dw, hn::UpperHalf(dh, v));
      sum0 = hn::MulAdd(low, low, sum0);
      sum1 = hn::MulAdd(high, high, sum1);
    });
  return hn::GetLane(hn::SumOfLanes(dw, hn::Add(sum0, sum1)));
}

double sum_of_squares_range(std::int64_t n, const float* x) { return sum_of_squares_of<true>(1, n, x, n); }

// In cache already; and behind a row lie numbers that another thread may be writing.
double sum_of_squares_block(std::int64_t rows, std::int64_t cols, const float* x, std::int64_t ld) {
  return sum_of_squares_of<false>(rows, cols, x, ld);
}

}  // namespace
}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearth::kernels {

double sum_of_squares(std::int64_t n, const float* x) {
  const std::int64_t chunks = divide_up(n, kFlatChunk);
  double* const sums = scratch<double, Scratch::partial_sums>(chunks);  // (chunks)
  const auto run = HEARTH_SIMD(sum_of_squares_range);
  cpu::parallel_chunks(n, kFlatChunk, [&](std::int64_t begin, std::int64_t end) {
    sums[begin / kFlatChunk] = run(end - begin, x + begin);
  });
  return std::accumulate(sums, sums + chunks, 0.0);
}

double sum_of_squares_of_rows(std::span<const std::int32_t> rows, std::int64_t cols, const float* table) {
  double* const sums = scratch<double, Scratch::partial_sums>(std::ssize(rows));  // (rows)
  const auto run = HEARTH_SIMD(sum_of_squares_range);
  cpu::parallel_for(std::ssize(rows),
                    [&](std::int64_t i) { sums[i] = run(cols, table + rows[static_cast<std::size_t>(i)] * cols); });
  return std::accumulate(sums, sums + rows.size(), 0.0);
}

double sum_of_squares_serial(std::int64_t rows, std::int64_t cols, const float* x, std::int64_t ld) {
  return HEARTH_SIMD(sum_of_squares_block)(rows, cols, x, ld);
}

}  // namespace hearth::kernels
#endif
