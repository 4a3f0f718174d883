#pragma once

#include <cstdint>
#include <span>

#include "hearth/base/dtype.h"

namespace hearth::kernels {

// The sum of squares of n f32 numbers in f64, over fixed chunks added in order; not finite if an element is not.
double sum_of_squares(std::int64_t n, const float* x);
// The same over some rows of a table of `cols` columns.
double sum_of_squares_of_rows(std::span<const std::int32_t> rows, std::int64_t cols, const float* table);
// The same over x (rows, cols), rows `ld` apart, on the calling thread, for tiles.
double sum_of_squares_serial(std::int64_t rows, std::int64_t cols, const float* x, std::int64_t ld);

// Updates of n weights p with gradients g, each as the named class computes it. Common to all:
// - settings are f64, because 1 - beta2 needs the precision;
// - grad_scale (clipping and loss scaling) multiplies the gradient as it is read;
// - weight_decay is decoupled (p *= 1 - lr * wd) in AdamW and Lion, and added to the gradient (g += wd * p) in the
// rest.
//
// One difference: averages that decay without a gradient (m of AdamW, v of RMSprop, momentum buffers) become 0 instead
// of subnormal. AdamW's m would otherwise decay to 4 * 2^-149 and stay there, and Intel processors need seven times as
// long for a row of such numbers (docs/performance-steps.md). Lion's m stays, because Lion uses its sign however small
// it is.

struct AdamWStep {
  double lr = 0, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
  std::int64_t step = 1;  // from 1, for the bias correction
  float grad_scale = 1;
  double update_scale = 1;  // factor of the change of p, but not of its decay
};
// torch.optim.AdamW: p *= 1 - lr * wd; m, v; p -= lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + eps).
void adamw(const AdamWStep&, std::int64_t n, float* p, const float* g, float* m, float* v);
// The same with moments in bf16: computed in f32, and rounded at random as they are stored. The random bits are a
// function of step.step and of the element's index in the arena; `first` is the index of p[0].
void adamw_16bit(const AdamWStep&, std::int64_t first, std::int64_t n, float* p, const float* g, BFloat16* m,
                 BFloat16* v);

struct SgdStep {
  double lr = 0, momentum = 0, weight_decay = 0;
  float grad_scale = 1;
  bool first = false;  // the momentum buffer starts as the gradient
};
// torch.optim.SGD without Nesterov; `buffer` may be null where momentum is 0.
void sgd(const SgdStep&, std::int64_t n, float* p, const float* g, float* buffer);

struct AdagradStep {
  double lr = 0, eps = 1e-10, weight_decay = 0;
  float grad_scale = 1;
};
// torch.optim.Adagrad: sum += g^2; p -= lr * g / (sqrt(sum) + eps).
void adagrad(const AdagradStep&, std::int64_t n, float* p, const float* g, float* sum);

struct RmsPropStep {
  double lr = 0, alpha = 0.99, eps = 1e-8, momentum = 0, weight_decay = 0;
  float grad_scale = 1;
};
// torch.optim.RMSprop, not centered: v = alpha * v + (1 - alpha) * g^2; p -= lr * g / (sqrt(v) + eps). With momentum,
// p -= lr * buffer, where buffer = momentum * buffer + g / (sqrt(v) + eps); otherwise `buffer` may be null.
void rmsprop(const RmsPropStep&, std::int64_t n, float* p, const float* g, float* v, float* buffer);

struct LionStep {
  double lr = 0, beta1 = 0.9, beta2 = 0.999, weight_decay = 0;
  float grad_scale = 1;
};
// p *= 1 - lr * wd; p -= lr * sign(beta1 * m + (1 - beta1) * g); m = beta2 * m + (1 - beta2) * g. The sign of 0 is 0,
// that of NaN is NaN.
void lion(const LionStep&, std::int64_t n, float* p, const float* g, float* m);

}  // namespace hearth::kernels
