// Shared by the updates of the optimizers.

#if defined(HEARTH_KERNELS_OPTIMIZER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEARTH_KERNELS_OPTIMIZER_INL_H_
#undef HEARTH_KERNELS_OPTIMIZER_INL_H_
#else
#define HEARTH_KERNELS_OPTIMIZER_INL_H_
#endif

#include <hwy/cache_control.h>

#include <limits>

#include "hearth/kernels/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {

// Prefetch distance in numbers. One core of an Intel server reads a fifth faster with it; AMD cores get slower beyond
// 128 (docs/performance-steps.md, "Steps taken").
inline constexpr std::int64_t kUpdateAhead = 128;

template <class... Streams>
HWY_INLINE void prefetch_update(std::int64_t i, const Streams*... streams) {
  (hwy::Prefetch(streams + i + kUpdateAhead), ...);
}

HWY_INLINE hn::Vec<F32> set_f32(double x) { return hn::Set(F32(), static_cast<float>(x)); }

// NaN stays NaN.
HWY_INLINE hn::Vec<F32> without_subnormals(hn::Vec<F32> v) {
  return hn::IfThenZeroElse(hn::Lt(hn::Abs(v), hn::Set(F32(), std::numeric_limits<float>::min())), v);
}

}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
