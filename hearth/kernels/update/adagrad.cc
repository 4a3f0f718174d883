#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/update/adagrad.cc"
#include "hearth/kernels/simd/simd.h"
// After simd.h.
#include <hwy/foreach_target.h>

#include "hearth/cpu/parallel.h"
#include "hearth/kernels/simd/chunks.h"
#include "hearth/kernels/update/optimizer-inl.h"
#include "hearth/kernels/update/optimizer.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {
namespace {

void adagrad_range(const AdagradStep& step, std::int64_t n, float* p, const float* g, float* sum) {
  const F32 d;
  const auto scale = set_f32(step.grad_scale), lr = set_f32(step.lr), decay = set_f32(step.weight_decay);
  const auto eps = set_f32(step.eps);
  for_vectors(d, n, [&](std::int64_t i, auto lanes) HWY_ATTR {
    prefetch_update(i, p, g, sum);
    const auto before = lanes.load(d, p + i);
    const auto gradient = hn::MulAdd(before, decay, hn::Mul(lanes.load(d, g + i), scale));
    const auto sum_now = hn::MulAdd(gradient, gradient, lanes.load(d, sum + i));
    const auto denominator = hn::Add(hn::Sqrt(sum_now), eps);
    lanes.store(d, sum_now, sum + i);
    lanes.store(d, hn::Sub(before, hn::Div(hn::Mul(lr, gradient), denominator)), p + i);
  });
}

}  // namespace
}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearth::kernels {

void adagrad(const AdagradStep& step, std::int64_t n, float* p, const float* g, float* sum) {
  const auto run = HEARTH_SIMD(adagrad_range);
  cpu::parallel_chunks(n, kFlatChunk, [&](std::int64_t begin, std::int64_t end) {
    run(step, end - begin, p + begin, g + begin, sum + begin);
  });
}

}  // namespace hearth::kernels
#endif
