#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/update/sgd.cc"
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

void sgd_range(const SgdStep& step, std::int64_t n, float* p, const float* g, float* buffer) {
  const F32 d;
  const auto scale = set_f32(step.grad_scale), lr = set_f32(step.lr), decay = set_f32(step.weight_decay);
  const auto momentum = set_f32(step.momentum);
  for_vectors(d, n, [&](std::int64_t i, auto lanes) HWY_ATTR {
    const auto before = lanes.load(d, p + i);
    auto change = hn::MulAdd(before, decay, hn::Mul(lanes.load(d, g + i), scale));
    if (step.momentum != 0) {
      if (!step.first) change = hn::MulAdd(lanes.load(d, buffer + i), momentum, change);
      change = without_subnormals(change);
      lanes.store(d, change, buffer + i);
    }
    lanes.store(d, hn::NegMulAdd(change, lr, before), p + i);
  });
}

}  // namespace
}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearth::kernels {

void sgd(const SgdStep& step, std::int64_t n, float* p, const float* g, float* buffer) {
  const auto run = HEARTH_SIMD(sgd_range);
  cpu::parallel_chunks(n, kFlatChunk, [&](std::int64_t begin, std::int64_t end) {
    run(step, end - begin, p + begin, g + begin, buffer == nullptr ? nullptr : buffer + begin);
  });
}

}  // namespace hearth::kernels
#endif
