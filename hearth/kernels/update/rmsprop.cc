#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/update/rmsprop.cc"
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

void rmsprop_range(const RmsPropStep& step, std::int64_t n, float* p, const float* g, float* v, float* buffer) {
  const F32 d;
  const auto scale = set_f32(step.grad_scale), lr = set_f32(step.lr), decay = set_f32(step.weight_decay);
  const auto alpha = set_f32(step.alpha), rate = set_f32(1 - step.alpha);
  const auto eps = set_f32(step.eps), momentum = set_f32(step.momentum);
  for_vectors(d, n, [&](std::int64_t i, auto lanes) HWY_ATTR {
    prefetch_update(i, p, g, v);
    const auto before = lanes.load(d, p + i);
    const auto gradient = hn::MulAdd(before, decay, hn::Mul(lanes.load(d, g + i), scale));
    const auto v_moved = hn::MulAdd(hn::Mul(rate, gradient), gradient, hn::Mul(lanes.load(d, v + i), alpha));
    const auto v_now = without_subnormals(v_moved);
    auto change = hn::Div(gradient, hn::Add(hn::Sqrt(v_now), eps));
    if (step.momentum != 0) {
      change = without_subnormals(hn::MulAdd(lanes.load(d, buffer + i), momentum, change));
      lanes.store(d, change, buffer + i);
    }
    lanes.store(d, v_now, v + i);
    lanes.store(d, hn::NegMulAdd(change, lr, before), p + i);
  });
}

}  // namespace
}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearth::kernels {

void rmsprop(const RmsPropStep& step, std::int64_t n, float* p, const float* g, float* v, float* buffer) {
  const auto run = HEARTH_SIMD(rmsprop_range);
  cpu::parallel_chunks(n, kFlatChunk, [&](std::int64_t begin, std::int64_t end) {
    run(step, end - begin, p + begin, g + begin, v + begin, buffer == nullptr ? nullptr : buffer + begin);
  });
}

}  // namespace hearth::kernels
#endif
