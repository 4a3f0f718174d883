#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/update/adamw.cc"
#include "hearth/kernels/simd/simd.h"
// After simd.h.
#include <hwy/foreach_target.h>

#include "hearth/cpu/parallel.h"
#include "hearth/kernels/simd/chunks.h"
#include "hearth/kernels/update/adamw-inl.h"
#include "hearth/kernels/update/optimizer.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {
namespace {

void adamw_range(const AdamWStep& step, std::int64_t n, float* p, const float* g, float* m, float* v) {
  const F32 d;
  const AdamWUpdate updated(step);
  for_vectors(d, n, [&](std::int64_t i, auto lanes) HWY_ATTR {
    prefetch_update(i, p, g, m, v);
    const AdamWState now =
        updated({lanes.load(d, p + i), lanes.load(d, m + i), lanes.load(d, v + i)}, lanes.load(d, g + i));
    lanes.store(d, now.m, m + i);
    lanes.store(d, now.v, v + i);
    lanes.store(d, now.p, p + i);
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
