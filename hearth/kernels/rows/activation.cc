#include "hearth/kernels/rows/activation.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/rows/activation.cc"
#include "hearth/kernels/simd/simd.h"
// After simd.h.
#include <hwy/foreach_target.h>

#include <type_traits>

#include "hearth/cpu/parallel.h"
#include "hearth/kernels/rows/activation-inl.h"
#include "hearth/kernels/simd/chunks.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {
namespace {

template <class T, class F>
void forward_range(F f, std::int64_t n, const T* x, T* y) {
  const F32 d;
  for_vectors(d, n,
              [&](std::int64_t i, auto lanes) HWY_ATTR { lanes.store(d, f.value(d, lanes.load(d, x + i)), y + i); });
}

void forward_elements(Activation kind, DType type, std::int64_t begin, std::int64_t end, const void* x, void* y) {
  visit_activation(kind, [&](auto f) HWY_ATTR {
    visit_stored(type, [&](auto value) HWY_ATTR {
      using T = decltype(value);
      forward_range(f, end - begin, static_cast<const T*>(x) + begin, static_cast<T*>(y) + begin);
    });
  });
}

// dx = dy * f'(x) and, unless `activated` is null, activated = f(x). dx may be dy, and `activated` may be x.
template <class T, class Dy, class F>
HWY_INLINE void backward_range(F f, std::int64_t n, const T* x, const Dy* dy, T* dx, T* activated = nullptr) {
  const F32 d;
  for_vectors(d, n, [&](std::int64_t i, auto lanes) HWY_ATTR {
    const auto at = lanes.load(d, x + i);
    lanes.store(d, hn::Mul(lanes.load(d, dy + i), f.slope(d, at)), dx + i);
    if (activated != nullptr) lanes.store(d, f.value(d, at), activated + i);
  });
}

void backward_elements(Activation kind, DType type, std::int64_t begin, std::int64_t end, const void* x, const void* dy,
                       void* dx) {
  visit_activation(kind, [&](auto f) HWY_ATTR {
    visit_stored(type, [&](auto value) HWY_ATTR {
      using T = decltype(value);
      backward_range(f, end - begin, static_cast<const T*>(x) + begin, static_cast<const T*>(dy) + begin,
                     static_cast<T*>(dx) + begin);
    });
  });
}

template <class T, class F>
HWY_INLINE void finish_row(F f, const TileEnd& end, std::int64_t cols, const float* tile, T* y, T* before) {
  const F32 d;
  for_vectors(d, cols, [&](std::int64_t i, auto lanes) HWY_ATTR {
    auto v = lanes.load(d, tile + i);
    if (end.bias != nullptr) v = hn::Add(v, lanes.load(d, end.bias + i));
    if constexpr (!std::is_same_v<F, Identity>) v = as_stored(d, v, y);
    if (before != nullptr) lanes.store(d, v, before + i);
    v = f.value(d, v);
    if (end.accumulate) v = hn::Add(lanes.load(d, y + i), v);
    lanes.store(d, v, y + i);
  });
}

template <class T, class F>
HWY_INLINE void finish_all_rows(F f, const TileEnd& end, std::int64_t rows, std::int64_t cols, const float* tile,
                                std::int64_t ld) {
  T* const y = static_cast<T*>(end.y);
  T* const before = static_cast<T*>(end.before);
  const T* const slope_at = static_cast<const T*>(end.slope_at);
  T* const activated = static_cast<T*>(end.activated);
  const auto row_of = [&](auto* matrix, std::int64_t row) {
    return matrix == nullptr ? nullptr : matrix + row * end.ldy;
  };
  for (std::int64_t row = 0; row < rows; ++row)
    if (slope_at != nullptr)
      backward_range(f, cols, row_of(slope_at, row), tile + row * ld, row_of(y, row), row_of(activated, row));
    else
      finish_row(f, end, cols, tile + row * ld, row_of(y, row), row_of(before, row));
}

void finish_rows(const TileEnd& end, std::int64_t rows, std::int64_t cols, const float* tile, std::int64_t ld) {
  constexpr std::int64_t kUsualCols = 32;  // of a block (Layout::blocks); a constant, so that the compiler unrolls
  visit_activation(end.activation, [&](auto f) HWY_ATTR {
    visit_stored(end.type, [&](auto value) HWY_ATTR {
      using T = decltype(value);
      if (cols == kUsualCols)
        finish_all_rows<T>(f, end, rows, kUsualCols, tile, ld);
      else
        finish_all_rows<T>(f, end, rows, cols, tile, ld);
    });
  });
}

}  // namespace
}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearth::kernels {

void activation_forward(Activation kind, DType type, std::int64_t n, const void* x, void* y) {
  const auto run = HEARTH_SIMD(forward_elements);
  cpu::parallel_chunks(n, kFlatChunk, [&](std::int64_t begin, std::int64_t end) { run(kind, type, begin, end, x, y); });
}

void activation_backward(Activation kind, DType type, std::int64_t n, const void* x, const void* dy, void* dx) {
  const auto run = HEARTH_SIMD(backward_elements);
  cpu::parallel_chunks(n, kFlatChunk,
                       [&](std::int64_t begin, std::int64_t end) { run(kind, type, begin, end, x, dy, dx); });
}

void finish_tile(const TileEnd& end, std::int64_t rows, std::int64_t cols, const float* tile, std::int64_t ld) {
  HEARTH_SIMD(finish_rows)(end, rows, cols, tile, ld);
}

}  // namespace hearth::kernels
#endif
