#pragma once

#include <cstdint>

namespace hearth::kernels {

// The sum of squares of n f32 numbers in f64, over fixed chunks added in order; not finite if an element is not.
double sum_of_squares(std::int64_t n, const float* x);

struct AdamWStep {
  double lr = 0, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;  // f64: 1 - beta2 needs the precision
  std::int64_t step = 1;                                                    // from 1, for the bias correction
  float grad_scale = 1;  // clipping and loss scaling, applied to the gradient as it is read
};
// torch.optim.AdamW: p *= 1 - lr * wd; m, v; p -= lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + eps).
// One difference: a subnormal m becomes 0. Without a gradient m would otherwise decay to 4 * 2^-149 and stay there, and
// Intel processors need seven times as long for a row of such numbers (docs/performance.md).
void adamw(const AdamWStep&, std::int64_t n, float* p, const float* g, float* m, float* v);

struct SgdStep {
  double lr = 0, momentum = 0, weight_decay = 0;
  float grad_scale = 1;
  bool first = false;  // the momentum buffer starts as the gradient
};
// torch.optim.SGD without Nesterov; `buffer` may be null where momentum is 0.
void sgd(const SgdStep&, std::int64_t n, float* p, const float* g, float* buffer);

}  // namespace hearth::kernels
