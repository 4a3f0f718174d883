#pragma once

#include <cstdint>
#include <string_view>

#include "hearth/base/dtype.h"

namespace hearth::kernels {

// gelu is the exact one (erf); gelu_tanh is Hugging Face's gelu_new / gelu_pytorch_tanh.
enum class Activation : std::uint8_t { none, gelu, gelu_tanh, relu, tanh };

// y = f(x), n elements of dtype `type`, computed in f32. In place is fine. `none` copies.
void activation_forward(Activation kind, DType type, std::int64_t n, const void* x, void* y);

// dx = dy * f'(x), from the input x. dx may be dy.
void activation_backward(Activation kind, DType type, std::int64_t n, const void* x, const void* dy, void* dx);

// The epilogue of a matmul tile: y = f(tile + bias), from f32 rows of length `cols` into rows of dtype `type`. f is
// applied to tile + bias as rounded to `type`, so that `before`, which receives it, is enough to compute y again.
// `bias` (cols) and `before` may be null. Runs on the calling thread; `accumulate` adds to what y holds (only without
// an activation).
// With `slope_at` the tile is a gradient of f(slope_at), and y = tile * f'(slope_at), its gradient by slope_at, alone.
// `activated` then receives f(slope_at); it may be null, or slope_at itself.
struct TileEnd {
  Activation activation = Activation::none;
  const float* bias = nullptr;
  DType type = DType::f32;
  void* y = nullptr;
  void* before = nullptr;
  std::int64_t ldy = 0;  // also of `before`, `slope_at` and `activated`
  bool accumulate = false;
  const void* slope_at = nullptr;
  void* activated = nullptr;
};
void finish_tile(const TileEnd& end, std::int64_t rows, std::int64_t cols, const float* tile, std::int64_t ld);

}  // namespace hearth::kernels
