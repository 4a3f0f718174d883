#include "hearth/kernels/rows/softmax.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/rows/softmax.cc"
#include "hearth/kernels/simd/simd.h"
// After simd.h.
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cmath>

#include "hearth/cpu/parallel.h"
#include "hearth/kernels/loss/class_sums-inl.h"
#include "hearth/kernels/simd/chunks.h"
#include "hearth/kernels/simd/visit.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {
namespace {

template <class T>
void forward_row(SoftmaxKind kind, std::int64_t cols, const T* x, T* y) {
  const F32 d;
  const float max = largest(cols, x);
  const double sum = sum_of_exp(cols, x, max, nullptr);
  const auto shift = hn::Set(d, max), share = hn::Set(d, static_cast<float>(1 / sum));
  const auto log_sum = hn::Set(d, static_cast<float>(std::log(sum)));
  for_vectors(d, cols, [&](std::int64_t i, auto lanes) HWY_ATTR {
    const auto v = hn::Sub(lanes.load(d, x + i), shift);
    lanes.store(d, kind == SoftmaxKind::plain ? hn::Mul(exp_f32(d, v), share) : hn::Sub(v, log_sum), y + i);
  });
}

template <class T>
void backward_row(SoftmaxKind kind, std::int64_t cols, const T* y, const T* dy, T* dx) {
  const F32 d;
  const bool plain = kind == SoftmaxKind::plain;
  const auto sum = hn::Set(d, static_cast<float>(plain ? dot(cols, y, dy) : sum_of(cols, dy)));
  for_vectors(d, cols, [&](std::int64_t i, auto lanes) HWY_ATTR {
    const auto v = lanes.load(d, y + i), slope = lanes.load(d, dy + i);
    lanes.store(d, plain ? hn::Mul(v, hn::Sub(slope, sum)) : hn::NegMulAdd(exp_f32(d, v), sum, slope), dx + i);
  });
}

void forward_rows(SoftmaxKind kind, DType type, std::int64_t begin, std::int64_t end, std::int64_t cols, const void* x,
                  void* y) {
  visit_float(type, [&](auto value) HWY_ATTR {
    using T = decltype(value);
    for (std::int64_t row = begin; row < end; ++row)
      forward_row(kind, cols, static_cast<const T*>(x) + row * cols, static_cast<T*>(y) + row * cols);
  });
}

void backward_rows(SoftmaxKind kind, DType type, std::int64_t begin, std::int64_t end, std::int64_t cols, const void* y,
                   const void* dy, void* dx) {
  visit_float(type, [&](auto value) HWY_ATTR {
    using T = decltype(value);
    for (std::int64_t row = begin; row < end; ++row)
      backward_row(kind, cols, static_cast<const T*>(y) + row * cols, static_cast<const T*>(dy) + row * cols,
                   static_cast<T*>(dx) + row * cols);
  });
}

}  // namespace
}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearth::kernels {
namespace {

std::int64_t rows_at_once(std::int64_t cols) {
  return std::max<std::int64_t>(1, kFlatChunk / std::max<std::int64_t>(1, cols));
}

}  // namespace

void softmax_forward(SoftmaxKind kind, DType type, std::int64_t rows, std::int64_t cols, const void* x, void* y) {
  const auto run = HEARTH_SIMD(forward_rows);
  cpu::parallel_chunks(rows, rows_at_once(cols),
                       [&](std::int64_t begin, std::int64_t end) { run(kind, type, begin, end, cols, x, y); });
}

void softmax_backward(SoftmaxKind kind, DType type, std::int64_t rows, std::int64_t cols, const void* y, const void* dy,
                      void* dx) {
  const auto run = HEARTH_SIMD(backward_rows);
  cpu::parallel_chunks(rows, rows_at_once(cols),
                       [&](std::int64_t begin, std::int64_t end) { run(kind, type, begin, end, cols, y, dy, dx); });
}

}  // namespace hearth::kernels
#endif
