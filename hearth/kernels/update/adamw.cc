#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/update/adamw.cc"
#include "hearth/kernels/simd/simd.h"
// After simd.h.
#include <hwy/foreach_target.h>

#include <cmath>

#include "hearth/cpu/parallel.h"
#include "hearth/kernels/simd/chunks.h"
#include "hearth/kernels/update/optimizer-inl.h"
#include "hearth/kernels/update/optimizer.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {
namespace {

void adamw_range(const AdamWStep& step, std::int64_t n, float* p, const float* g, float* m, float* v) {
  const F32 d;
  const double correction1 = 1 - std::pow(step.beta1, static_cast<double>(step.step));
  const double correction2 = 1 - std::pow(step.beta2, static_cast<double>(step.step));
  const auto scale = set_f32(step.grad_scale), decay = set_f32(1 - step.lr * step.weight_decay);
  const auto rate1 = set_f32(1 - step.beta1), beta2 = set_f32(step.beta2), rate2 = set_f32(1 - step.beta2);
  const auto root_correction2 = set_f32(std::sqrt(correction2)), eps = set_f32(step.eps);
  const auto step_size = set_f32(step.lr * step.update_scale / correction1);
  for_vectors(d, n, [&](std::int64_t i, auto lanes) HWY_ATTR {
    prefetch_update(i, p, g, m, v);
    const auto gradient = hn::Mul(lanes.load(d, g + i), scale);
    const auto m_before = lanes.load(d, m + i);
    const auto m_now = without_subnormals(hn::MulAdd(hn::Sub(gradient, m_before), rate1, m_before));
    const auto v_now = hn::MulAdd(hn::Mul(rate2, gradient), gradient, hn::Mul(lanes.load(d, v + i), beta2));
    const auto denominator = hn::Add(hn::Div(hn::Sqrt(v_now), root_correction2), eps);
    const auto decayed = hn::Mul(lanes.load(d, p + i), decay);
    lanes.store(d, m_now, m + i);
    lanes.store(d, v_now, v + i);
    lanes.store(d, hn::Sub(decayed, hn::Div(hn::Mul(step_size, m_now), denominator)), p + i);
  });
}

}  // namespace
}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearth::kernels {

void adamw(const AdamWStep& step, std::int64_t n, float* p, const float* g, float* m, float* v) {
  const auto run = HEARTH_SIMD(adamw_range);
  cpu::parallel_chunks(n, kFlatChunk, [&](std::int64_t begin, std::int64_t end) {
    run(step, end - begin, p + begin, g + begin, m + begin, v + begin);
  });
}

}  // namespace hearth::kernels
#endif
