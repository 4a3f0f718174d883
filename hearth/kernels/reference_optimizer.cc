#include <cmath>

#include "hearth/kernels/reference.h"

namespace hearth::kernels::reference {

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
  const auto step_size = static_cast<float>(step.lr / correction1);
  for (std::int64_t i = 0; i < n; ++i) {
    const float gradient = g[i] * step.grad_scale;
    p[i] *= decay;
    m[i] += rate1 * (gradient - m[i]);
    if (std::fpclassify(m[i]) == FP_SUBNORMAL) m[i] = 0;
    v[i] = v[i] * beta2 + rate2 * gradient * gradient;
    p[i] -= step_size * m[i] / (std::sqrt(v[i]) / root_correction2 + eps);
  }
}

void sgd(const SgdStep& step, std::int64_t n, float* p, const float* g, float* buffer) {
  const auto lr = static_cast<float>(step.lr), momentum = static_cast<float>(step.momentum);
  const auto decay = static_cast<float>(step.weight_decay);
  for (std::int64_t i = 0; i < n; ++i) {
    float change = g[i] * step.grad_scale + decay * p[i];
    if (step.momentum != 0) {
      if (!step.first) change += momentum * buffer[i];
      buffer[i] = change;
    }
    p[i] -= lr * change;
  }
}

}  // namespace hearth::kernels::reference
