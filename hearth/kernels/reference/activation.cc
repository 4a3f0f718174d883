#include <cmath>
#include <numbers>

#include "hearth/base/check.h"
#include "hearth/kernels/reference/numbers.h"
#include "hearth/kernels/reference/reference.h"

namespace hearth::kernels::reference {
namespace {

const double kTanhScale = std::sqrt(2 / std::numbers::pi);
constexpr double kTanhCubic = 0.044715;

bool is_gelu(Activation kind) { return kind == Activation::gelu || kind == Activation::gelu_tanh; }

// At an infinity GELU's formulas multiply it by zero; its limits are those of ReLU.
double value(Activation kind, double x) {
  if (is_gelu(kind) && std::isinf(x)) kind = Activation::relu;
  switch (kind) {
    case Activation::none:
      return x;
    case Activation::gelu:
      return x * 0.5 * std::erfc(-x / std::numbers::sqrt2);
    case Activation::gelu_tanh:
      return x * 0.5 * (1 + std::tanh(kTanhScale * (x + kTanhCubic * x * x * x)));
    case Activation::relu:
      return x < 0 ? 0 : x;
    case Activation::tanh:
      return std::tanh(x);
  }
  fail("[activation] unknown activation {}", static_cast<int>(kind));
}

double slope(Activation kind, double x) {
  if (is_gelu(kind) && std::isinf(x)) kind = Activation::relu;
  switch (kind) {
    case Activation::none:
      return 1;
    case Activation::gelu: {
      const double density = std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi);
      return 0.5 * std::erfc(-x / std::numbers::sqrt2) + x * density;
    }
    case Activation::gelu_tanh: {
      const double t = std::tanh(kTanhScale * (x + kTanhCubic * x * x * x));
      return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * kTanhScale * (1 + 3 * kTanhCubic * x * x);
    }
    case Activation::relu:
      return x > 0 ? 1 : 0;
    case Activation::tanh:
      return 1 - std::tanh(x) * std::tanh(x);
  }
  fail("[activation] unknown activation {}", static_cast<int>(kind));
}

}  // namespace

void activation_forward(Activation kind, DType type, std::int64_t n, const void* x, void* y) {
  for (std::int64_t i = 0; i < n; ++i) set(type, y, i, value(kind, get(type, x, i)));
}

void activation_backward(Activation kind, DType type, std::int64_t n, const void* x, const void* dy, void* dx) {
  for (std::int64_t i = 0; i < n; ++i) set(type, dx, i, get(type, dy, i) * slope(kind, get(type, x, i)));
}

void finish_tile(const TileEnd& end, std::int64_t rows, std::int64_t cols, const float* tile, std::int64_t ld) {
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t col = 0; col < cols; ++col) {
      const std::int64_t at = row * end.ldy + col;
      if (end.slope_at != nullptr) {
        const double x = get(end.type, end.slope_at, at);
        set(end.type, end.y, at, tile[row * ld + col] * slope(end.activation, x));
        if (end.activated != nullptr) set(end.type, end.activated, at, value(end.activation, x));
        continue;
      }
      const float before = tile[row * ld + col] + (end.bias != nullptr ? end.bias[col] : 0.0f);
      if (end.before != nullptr) set(end.type, end.before, at, before);
      const double y = end.activation == Activation::none ? before : value(end.activation, as_stored(end.type, before));
      set(end.type, end.y, at, end.accumulate ? get(end.type, end.y, at) + y : y);
    }
  }
}

}  // namespace hearth::kernels::reference
