#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/update/lion.cc"
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

HWY_INLINE hn::Vec<F32> sign_of(hn::Vec<F32> v) {
  const F32 d;
  const auto sign = hn::IfThenElseZero(hn::Ne(v, hn::Zero(d)), hn::CopySign(hn::Set(d, 1.0f), v));
  return hn::IfThenElse(hn::IsNaN(v), v, sign);
}

void lion_range(const LionStep& step, std::int64_t n, float* p, const float* g, float* m) {
  const F32 d;
  const auto scale = set_f32(step.grad_scale), lr = set_f32(step.lr);
  const auto decay = set_f32(1 - step.lr * step.weight_decay);
  const auto beta1 = set_f32(step.beta1), rate1 = set_f32(1 - step.beta1);
  const auto beta2 = set_f32(step.beta2), rate2 = set_f32(1 - step.beta2);
  for_vectors(d, n, [&](std::int64_t i, auto lanes) HWY_ATTR {
    prefetch_update(i, p, g, m);
    const auto gradient = hn::Mul(lanes.load(d, g + i), scale);
    const auto m_before = lanes.load(d, m + i);
    const auto direction = sign_of(hn::Add(hn::Mul(m_before, beta1), hn::Mul(gradient, rate1)));
    const auto decayed = hn::Mul(lanes.load(d, p + i), decay);
    lanes.store(d, hn::MulAdd(gradient, rate2, hn::Mul(m_before, beta2)), m + i);
    lanes.store(d, hn::NegMulAdd(direction, lr, decayed), p + i);
  });
}

}  // namespace
}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearth::kernels {

void lion(const LionStep& step, std::int64_t n, float* p, const float* g, float* m) {
  const auto run = HEARTH_SIMD(lion_range);
  cpu::parallel_chunks(n, kFlatChunk, [&](std::int64_t begin, std::int64_t end) {
    run(step, end - begin, p + begin, g + begin, m + begin);
  });
}

}  // namespace hearth::kernels
#endif
