#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/loss/mean_squared_error.cc"
#include "hearth/base/rounding.h"
#include "hearth/kernels/simd/simd.h"
// After simd.h.
#include <hwy/foreach_target.h>

#include <numeric>

#include "hearth/cpu/parallel.h"
#include "hearth/kernels/loss/class_sums-inl.h"
#include "hearth/kernels/loss/loss.h"
#include "hearth/kernels/simd/chunks.h"
#include "hearth/kernels/simd/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {
namespace {

// The sum of the squared errors; dlogits, where not null, receives `scale` times the errors.
double squared_errors(std::int64_t n, const float* logits, const float* targets, float scale, float* dlogits) {
  const F32 d;
  return sum_in_blocks(n, [&](std::int64_t i, auto lanes) HWY_ATTR {
    const auto error = hn::Sub(lanes.load(d, logits + i), lanes.load(d, targets + i));
    if (dlogits != nullptr) lanes.store(d, hn::Mul(error, hn::Set(d, scale)), dlogits + i);
    return hn::Mul(error, error);
  });
}

}  // namespace
}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearth::kernels {

float mean_squared_error(std::int64_t n, const float* logits, const float* targets, float* dlogits) {
  const std::int64_t chunks = divide_up(n, kFlatChunk);
  double* const sums = scratch<double, Scratch::partial_sums>(chunks);  // (chunks)
  const auto scale = static_cast<float>(2.0 / static_cast<double>(n));
  const auto run = HEARTH_SIMD(squared_errors);
  cpu::parallel_chunks(n, kFlatChunk, [&](std::int64_t begin, std::int64_t end) {
    float* const part = dlogits == nullptr ? nullptr : dlogits + begin;
    sums[begin / kFlatChunk] = run(end - begin, logits + begin, targets + begin, scale, part);
  });
  return static_cast<float>(std::accumulate(sums, sums + chunks, 0.0) / static_cast<double>(n));
}

}  // namespace hearth::kernels
#endif
