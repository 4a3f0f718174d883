// Sums over the classes of a row of logits, computed in f32.

#if defined(HEARTH_KERNELS_CLASS_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEARTH_KERNELS_CLASS_SUMS_INL_H_
#undef HEARTH_KERNELS_CLASS_SUMS_INL_H_
#else
#define HEARTH_KERNELS_CLASS_SUMS_INL_H_
#endif

#include <algorithm>
#include <limits>

#include "hearth/kernels/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {

// Sums over thousands of classes move from f32 to f64 after this many terms.
constexpr std::int64_t kClassBlock = 1024;

// The sum of body(i, lanes) over n elements; lanes beyond the end must be 0.
template <class Body>
HWY_INLINE double sum_in_blocks(std::int64_t n, const Body& body) {
  const F32 d;
  double sum = 0;
  for (std::int64_t first = 0; first < n; first += kClassBlock)
    sum += sum_vectors(d, std::min(kClassBlock, n - first),
                       [&](std::int64_t i, auto lanes) HWY_ATTR { return body(first + i, lanes); });
  return sum;
}

template <class T>
float largest(std::int64_t n, const T* x) {
  const F32 d;
  const float lowest = -std::numeric_limits<float>::infinity();
  auto max = hn::Set(d, lowest);
  for_vectors(d, n, [&](std::int64_t i, auto lanes) HWY_ATTR {
    max = hn::Max(max, lanes.or_else(d, lanes.load(d, x + i), lowest));
  });
  return hn::GetLane(hn::MaxOfLanes(d, max));
}

// The sum of exp(x - max); each term is left in `terms` where that is not null.
template <class T>
double sum_of_exp(std::int64_t n, const T* x, float max, float* terms) {
  const F32 d;
  const auto shift = hn::Set(d, max);
  return sum_in_blocks(n, [&](std::int64_t i, auto lanes) HWY_ATTR {
    const auto term = exp_f32(d, hn::Sub(lanes.load(d, x + i), shift));
    if (terms != nullptr) lanes.store(d, term, terms + i);
    return lanes.or_else(d, term, 0.0f);
  });
}

template <class T>
double sum_of(std::int64_t n, const T* x) {
  const F32 d;
  return sum_in_blocks(n, [&](std::int64_t i, auto lanes) HWY_ATTR { return lanes.load(d, x + i); });
}

template <class T>
double dot(std::int64_t n, const T* x, const T* y) {
  const F32 d;
  return sum_in_blocks(
      n, [&](std::int64_t i, auto lanes) HWY_ATTR { return hn::Mul(lanes.load(d, x + i), lanes.load(d, y + i)); });
}

}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
