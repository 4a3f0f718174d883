#include "hearth/kernels/update/sum_arrays.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/update/sum_arrays.cc"
#include "hearth/kernels/simd/simd.h"
// After simd.h.
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>

#include <algorithm>

#include "hearth/kernels/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {
namespace {

constexpr std::int64_t kBlock = 512;  // numbers of one array that are added at once; the sums stay in the L1 cache

// Sums are complete before they are stored, because `sum` may be one of the arrays.
void sum_range(std::span<const float* const> arrays, std::int64_t begin, std::int64_t end, float* sum) {
  const F32 d;
  HWY_ALIGN float sums[kBlock];
  for (; begin < end; begin += kBlock) {
    const std::int64_t n = std::min(kBlock, end - begin);
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      const float* const x = arrays[k] + begin;
      const float* const next = k + 1 < arrays.size() ? arrays[k + 1] + begin : arrays[0] + begin + kBlock;
      for_vectors(d, n, [&](std::int64_t i, auto lanes) HWY_ATTR {
        hwy::Prefetch(next + i);
        const auto v = lanes.load(d, x + i);
        lanes.store(d, k == 0 ? v : hn::Add(lanes.load(d, sums + i), v), sums + i);
      });
    }
    for_vectors(d, n,
                [&](std::int64_t i, auto lanes) HWY_ATTR { lanes.store(d, lanes.load(d, sums + i), sum + begin + i); });
  }
}

}  // namespace
}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearth::kernels {

void sum_arrays(std::span<const float* const> arrays, std::int64_t begin, std::int64_t end, float* sum) {
  HEARTH_SIMD(sum_range)(arrays, begin, end, sum);
}

}  // namespace hearth::kernels
#endif
