#include "hearth/kernels/rows/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/rows/elementwise.cc"
#include "hearth/kernels/simd/simd.h"
// After simd.h.
#include <hwy/foreach_target.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "hearth/base/rounding.h"
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
  visit_stored(type, [&](auto value) HWY_ATTR {
    using T = decltype(value);
    add_range(end - begin, static_cast<const T*>(x) + begin, static_cast<T*>(y) + begin);
  });
}

template <class T, class F>
void pairwise_range(std::int64_t n, const F& f, const T* a, const T* b, T* y) {
  const F32 d;
  for_vectors(d, n, [&](std::int64_t i, auto lanes) HWY_ATTR {
    lanes.store(d, f(lanes.load(d, a + i), lanes.load(d, b + i)), y + i);
  });
}

void pairwise_elements(Pairwise kind, DType type, std::int64_t begin, std::int64_t end, const void* a, const void* b,
                       void* y) {
  visit_stored(type, [&](auto value) HWY_ATTR {
    using T = decltype(value);
    using V = hn::Vec<F32>;
    const auto run = [&](const auto& f) HWY_ATTR {
      pairwise_range(end - begin, f, static_cast<const T*>(a) + begin, static_cast<const T*>(b) + begin,
                     static_cast<T*>(y) + begin);
    };
    if (kind == Pairwise::sum) run([](V v, V w) HWY_ATTR { return hn::Add(v, w); });
    if (kind == Pairwise::difference) run([](V v, V w) HWY_ATTR { return hn::Sub(v, w); });
    if (kind == Pairwise::product) run([](V v, V w) HWY_ATTR { return hn::Mul(v, w); });
  });
}

template <class T>
void scale_range(std::int64_t n, float factor, const T* x, T* y) {
  const F32 d;
  const auto factors = hn::Set(d, factor);
  for_vectors(d, n, [&](std::int64_t i, auto lanes) HWY_ATTR {
    lanes.store(d, hn::Mul(lanes.load(d, x + i), factors), y + i);
  });
}

void scale_elements(DType type, std::int64_t begin, std::int64_t end, float factor, const void* x, void* y) {
  visit_stored(type, [&](auto value) HWY_ATTR {
    using T = decltype(value);
    scale_range(end - begin, factor, static_cast<const T*>(x) + begin, static_cast<T*>(y) + begin);
  });
}

float sum_elements(DType type, std::int64_t begin, std::int64_t end, const void* x) {
  float sum = 0;
  visit_float(type, [&](auto value) HWY_ATTR {
    const F32 d;
    const auto* const from = static_cast<const decltype(value)*>(x) + begin;
    sum = sum_vectors(d, end - begin, [&](std::int64_t i, auto lanes) HWY_ATTR { return lanes.load(d, from + i); });
  });
  return sum;
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

void pairwise(Pairwise kind, DType type, std::int64_t n, const void* a, const void* b, void* y) {
  const auto run = HEARTH_SIMD(pairwise_elements);
  cpu::parallel_chunks(n, kFlatChunk,
                       [&](std::int64_t begin, std::int64_t end) { run(kind, type, begin, end, a, b, y); });
}

void scale(DType type, std::int64_t n, float factor, const void* x, void* y) {
  const auto run = HEARTH_SIMD(scale_elements);
  cpu::parallel_chunks(n, kFlatChunk,
                       [&](std::int64_t begin, std::int64_t end) { run(type, begin, end, factor, x, y); });
}

void fill(DType type, std::int64_t n, float value, void* y) {
  visit_float(type, [&](auto zero) {
    using T = decltype(zero);
    cpu::parallel_chunks(n, kFlatChunk, [&](std::int64_t begin, std::int64_t end) {
      std::fill(static_cast<T*>(y) + begin, static_cast<T*>(y) + end, T(value));
    });
  });
}

double total(DType type, std::int64_t n, const void* x) {
  const auto run = HEARTH_SIMD(sum_elements);
  std::vector<float> sums(static_cast<std::size_t>(divide_up(n, kFlatChunk)));
  cpu::parallel_chunks(n, kFlatChunk, [&](std::int64_t begin, std::int64_t end) {
    sums[static_cast<std::size_t>(begin / kFlatChunk)] = run(type, begin, end, x);
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
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
