#include "hearth/kernels/rows/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/rows/elementwise.cc"
#include "hearth/kernels/simd/simd.h"
// After simd.h.
#include <hwy/foreach_target.h>

#include <atomic>

#include "hearth/cpu/parallel.h"
#include "hearth/kernels/simd/chunks.h"
#include "hearth/kernels/simd/simd-inl.h"
#include "hearth/kernels/simd/visit.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {
namespace {

template <class From, class To>
void convert_range(std::int64_t n, const From* x, To* y) {
  const F32 d;
  for_vectors(d, n, [&](std::int64_t i, auto lanes) HWY_ATTR { lanes.store(d, lanes.load(d, x + i), y + i); });
}

void convert_elements(DType from, DType to, std::int64_t begin, std::int64_t end, const void* x, void* y) {
  visit_float(from, [&](auto x_value) HWY_ATTR {
    visit_float(to, [&](auto y_value) HWY_ATTR {
      convert_range(end - begin, static_cast<const decltype(x_value)*>(x) + begin,
                    static_cast<decltype(y_value)*>(y) + begin);
    });
  });
}

template <class T>
void add_range(std::int64_t n, const T* x, T* y) {
  const F32 d;
  for_vectors(d, n, [&](std::int64_t i, auto lanes) HWY_ATTR {
    lanes.store(d, hn::Add(lanes.load(d, y + i), lanes.load(d, x + i)), y + i);
  });
}

void add_elements(DType type, std::int64_t begin, std::int64_t end, const void* x, void* y) {
  visit_float(type, [&](auto value) HWY_ATTR {
    using T = decltype(value);
    add_range(end - begin, static_cast<const T*>(x) + begin, static_cast<T*>(y) + begin);
  });
}

template <class T>
void scale_range(std::int64_t n, float factor, T* x) {
  const F32 d;
  const auto factors = hn::Set(d, factor);
  for_vectors(d, n, [&](std::int64_t i, auto lanes) HWY_ATTR {
    lanes.store(d, hn::Mul(lanes.load(d, x + i), factors), x + i);
  });
}

void scale_elements(DType type, std::int64_t begin, std::int64_t end, float factor, void* x) {
  visit_float(type,
              [&](auto value) HWY_ATTR { scale_range(end - begin, factor, static_cast<decltype(value)*>(x) + begin); });
}

// 0 * x is NaN if x is not finite, and a NaN is equal to nothing.
template <class T>
bool is_finite_range(std::int64_t n, const T* x) {
  const F32 d;
  const auto zero = hn::Zero(d);
  return sum_vectors(d, n, [&](std::int64_t i, auto lanes) HWY_ATTR { return hn::Mul(lanes.load(d, x + i), zero); }) ==
         0;
}

bool are_finite_elements(DType type, std::int64_t begin, std::int64_t end, const void* x) {
  bool finite = true;
  visit_float(type, [&](auto value) HWY_ATTR {
    finite = is_finite_range(end - begin, static_cast<const decltype(value)*>(x) + begin);
  });
  return finite;
}

}  // namespace
}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearth::kernels {

void convert(DType from, const void* x, DType to, void* y, std::int64_t n) {
  const auto run = HEARTH_SIMD(convert_elements);
  cpu::parallel_chunks(n, kFlatChunk, [&](std::int64_t begin, std::int64_t end) { run(from, to, begin, end, x, y); });
}

void convert_serial(DType from, const void* x, DType to, void* y, std::int64_t n) {
  HEARTH_SIMD(convert_elements)(from, to, 0, n, x, y);
}

void add_into(DType type, std::int64_t n, const void* x, void* y) {
  const auto run = HEARTH_SIMD(add_elements);
  cpu::parallel_chunks(n, kFlatChunk, [&](std::int64_t begin, std::int64_t end) { run(type, begin, end, x, y); });
}

void scale(DType type, std::int64_t n, float factor, void* x) {
  const auto run = HEARTH_SIMD(scale_elements);
  cpu::parallel_chunks(n, kFlatChunk, [&](std::int64_t begin, std::int64_t end) { run(type, begin, end, factor, x); });
}

bool all_finite(DType type, std::int64_t n, const void* x) {
  const auto run = HEARTH_SIMD(are_finite_elements);
  std::atomic<bool> finite = true;
  cpu::parallel_chunks(n, kFlatChunk, [&](std::int64_t begin, std::int64_t end) {
    if (!run(type, begin, end, x)) finite = false;
  });
  return finite;
}

}  // namespace hearth::kernels
#endif
