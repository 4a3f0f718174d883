#include <bit>
#include <cmath>

#include "hearth/kernels/reference/reference.h"

namespace hearth::kernels::reference {
namespace {

float without_subnormals(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? 0 : x; }

std::uint32_t hashed(std::uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

// x, or the next number of bf16 away from zero: the latter if its lower half and the random bits exceed 16 bits.
BFloat16 rounded(float x, std::uint32_t random) {
  if (!std::isfinite(x)) return BFloat16(x);
  constexpr std::uint16_t kMagnitude = 0x7fff, kLargest = 0x7f7f;
  const auto word = std::bit_cast<std::uint32_t>(x);
  BFloat16 result;
  result.bits = static_cast<std::uint16_t>(word >> 16);
  if ((word & 0xffffu) + random > 0xffffu && (result.bits & kMagnitude) != kLargest) ++result.bits;
  return result;
}

float sign_of(float x) { return x > 0 ? 1.0f : x < 0 ? -1.0f : x; }

}  // namespace

double sum_of_squares(std::int64_t n, const float* x) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += double{x[i]} * double{x[i]};
  return sum;
}

void adamw(const AdamWStep& step, std::int64_t n, float* p, const float* g, float* m, float* v) {
  const double correction1 = 1 - std::pow(step.beta1, static_cast<double>(step.step));
  const double correction2 = 1 - std::pow(step.beta2, static_cast<double>(step.step));
  const auto decay = static_cast<float>(1 - step.lr * step.weight_decay);
  const auto rate1 = static_cast<float>(1 - step.beta1), rate2 = static_cast<float>(1 - step.beta2);
  const auto beta2 = static_cast<float>(step.beta2), eps = static_cast<float>(step.eps);
  const auto root_correction2 = static_cast<float>(std::sqrt(correction2));
  const auto step_size = static_cast<float>(step.lr * step.update_scale / correction1);
  for (std::int64_t i = 0; i < n; ++i) {
    const float gradient = g[i] * step.grad_scale;
    p[i] *= decay;
    m[i] = without_subnormals(m[i] + rate1 * (gradient - m[i]));
    v[i] = v[i] * beta2 + rate2 * gradient * gradient;
    p[i] -= step_size * m[i] / (std::sqrt(v[i]) / root_correction2 + eps);
  }
}

void adamw_16bit(const AdamWStep& step, std::int64_t first, std::int64_t n, float* p, const float* g, BFloat16* m,
                 BFloat16* v) {
  for (std::int64_t i = 0; i < n; ++i) {
    auto m_now = static_cast<float>(m[i]), v_now = static_cast<float>(v[i]);
    reference::adamw(step, 1, p + i, g + i, &m_now, &v_now);
    const std::uint32_t random =
        hashed(hashed(static_cast<std::uint32_t>(step.step)) + static_cast<std::uint32_t>(first + i));
    m[i] = rounded(m_now, random & 0xffffu);
    v[i] = rounded(v_now, random >> 16);
  }
}

void sgd(const SgdStep& step, std::int64_t n, float* p, const float* g, float* buffer) {
  const auto lr = static_cast<float>(step.lr), momentum = static_cast<float>(step.momentum);
  const auto decay = static_cast<float>(step.weight_decay);
  for (std::int64_t i = 0; i < n; ++i) {
    float change = g[i] * step.grad_scale + decay * p[i];
    if (step.momentum != 0) {
      if (!step.first) change += momentum * buffer[i];
      change = buffer[i] = without_subnormals(change);
    }
    p[i] -= lr * change;
  }
}

void adagrad(const AdagradStep& step, std::int64_t n, float* p, const float* g, float* sum) {
  const auto lr = static_cast<float>(step.lr), eps = static_cast<float>(step.eps);
  const auto decay = static_cast<float>(step.weight_decay);
  for (std::int64_t i = 0; i < n; ++i) {
    const float gradient = g[i] * step.grad_scale + decay * p[i];
    sum[i] += gradient * gradient;
    p[i] -= lr * gradient / (std::sqrt(sum[i]) + eps);
  }
}

void rmsprop(const RmsPropStep& step, std::int64_t n, float* p, const float* g, float* v, float* buffer) {
  const auto lr = static_cast<float>(step.lr), eps = static_cast<float>(step.eps);
  const auto alpha = static_cast<float>(step.alpha), rate = static_cast<float>(1 - step.alpha);
  const auto momentum = static_cast<float>(step.momentum), decay = static_cast<float>(step.weight_decay);
  for (std::int64_t i = 0; i < n; ++i) {
    const float gradient = g[i] * step.grad_scale + decay * p[i];
    v[i] = without_subnormals(alpha * v[i] + rate * gradient * gradient);
    float change = gradient / (std::sqrt(v[i]) + eps);
    if (step.momentum != 0) change = buffer[i] = without_subnormals(momentum * buffer[i] + change);
    p[i] -= lr * change;
  }
}

void lion(const LionStep& step, std::int64_t n, float* p, const float* g, float* m) {
  const auto lr = static_cast<float>(step.lr), decay = static_cast<float>(1 - step.lr * step.weight_decay);
  const auto beta1 = static_cast<float>(step.beta1), rate1 = static_cast<float>(1 - step.beta1);
  const auto beta2 = static_cast<float>(step.beta2), rate2 = static_cast<float>(1 - step.beta2);
  for (std::int64_t i = 0; i < n; ++i) {
    const float gradient = g[i] * step.grad_scale;
    p[i] = p[i] * decay - lr * sign_of(beta1 * m[i] + rate1 * gradient);
    m[i] = beta2 * m[i] + rate2 * gradient;
  }
}

}  // namespace hearth::kernels::reference
