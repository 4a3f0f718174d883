#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/loss/cross_entropy.cc"
#include "hearth/kernels/simd/simd.h"
// After simd.h.
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "hearth/cpu/parallel.h"
#include "hearth/kernels/loss/class_sums-inl.h"
#include "hearth/kernels/loss/loss.h"
#include "hearth/kernels/simd/chunks.h"
#include "hearth/kernels/simd/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {
namespace {

// The loss of one row; dlogits (classes), where not null, receives `scale` times its gradient.
double cross_entropy_row(std::int64_t classes, const float* logits, std::int64_t label, float smoothing, float scale,
                         float* dlogits) {
  const F32 d;
  const double spread = static_cast<double>(smoothing) / static_cast<double>(classes);
  double target = (1.0 - smoothing) * logits[label];
  if (smoothing != 0) target += spread * sum_of(classes, logits);
  const float max = largest(classes, logits);
  const double sum = sum_of_exp(classes, logits, max, dlogits);
  if (dlogits != nullptr) {
    const auto factor = hn::Set(d, static_cast<float>(scale / sum));
    const auto share = hn::Set(d, static_cast<float>(scale * spread));
    for_vectors(d, classes, [&](std::int64_t i, auto lanes) HWY_ATTR {
      lanes.store(d, hn::MulSub(lanes.load(d, dlogits + i), factor, share), dlogits + i);
    });
    dlogits[label] -= scale * (1.0f - smoothing);
  }
  return std::log(sum) + max - target;
}

// The focal loss factor * nll with factor = (1 - p)^gamma and nll = -log(p); slope is its derivative by nll.
struct Focal {
  Focal(double gamma, double nll)
      : factor(gamma == 0 ? 1 : std::pow(-std::expm1(-nll), gamma)),
        slope(factor * (1 + gamma * nll_times_odds(nll))) {}

  double factor, slope;

 private:
  // nll * p / (1 - p), 1 in the limit of p = 1; exp(700) is finite.
  static double nll_times_odds(double nll) {
    return nll > 0 ? std::min(nll, 700.0) / std::expm1(std::min(nll, 700.0)) : 1;
  }
};

// As cross_entropy_row, with class weights or focal_gamma; sum_of_weights is that over all classes.
double weighted_cross_entropy_row(std::int64_t classes, const float* logits, std::int64_t label,
                                  const CrossEntropyOptions& options, double sum_of_weights, float scale,
                                  float* dlogits) {
  const F32 d;
  const float* const weights = options.class_weights.empty() ? nullptr : options.class_weights.data();
  const double smoothing = options.label_smoothing, spread = smoothing / static_cast<double>(classes);
  const double label_weight = (1.0 - smoothing) * (weights == nullptr ? 1.0f : weights[label]);
  // dlogits may be the logits: what is read of them comes before sum_of_exp.
  const double own = logits[label], smoothed = spread == 0 ? 0 : dot(classes, weights, logits);
  const float max = largest(classes, logits);
  const double sum = sum_of_exp(classes, logits, max, dlogits), log_sum = std::log(sum) + max;
  const double nll = log_sum - own;
  const Focal focal(options.focal_gamma, nll);
  double loss = label_weight * focal.factor * nll;
  if (spread != 0) loss += spread * (sum_of_weights * log_sum - smoothed);
  if (dlogits == nullptr) return loss;
  const double target = label_weight * focal.slope;
  const auto factor = hn::Set(d, static_cast<float>(scale * (target + spread * sum_of_weights) / sum));
  const auto share = hn::Set(d, static_cast<float>(scale * spread));
  for_vectors(d, classes, [&](std::int64_t i, auto lanes) HWY_ATTR {
    auto gradient = hn::Mul(lanes.load(d, dlogits + i), factor);
    if (spread != 0) gradient = hn::NegMulAdd(lanes.load(d, weights + i), share, gradient);
    lanes.store(d, gradient, dlogits + i);
  });
  dlogits[label] -= static_cast<float>(scale * target);
  return loss;
}

}  // namespace
}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearth::kernels {
namespace {

bool counts(const CrossEntropyOptions& options, std::int64_t label) { return label != options.ignore_label; }

// What the sum of the row losses is divided by.
double sum_of_label_weights(std::int64_t rows, const std::int64_t* labels, const CrossEntropyOptions& options) {
  double sum = 0;
  for (std::int64_t row = 0; row < rows; ++row)
    if (counts(options, labels[row]))
      sum += options.class_weights.empty() ? 1.0f : options.class_weights[static_cast<std::size_t>(labels[row])];
  return sum;
}

}  // namespace

float cross_entropy(std::int64_t rows, std::int64_t classes, const float* logits, const std::int64_t* labels,
                    const CrossEntropyOptions& options, float* dlogits) {
  const double denominator = sum_of_label_weights(rows, labels, options);
  const float scale = denominator > 0 ? 1.0f / static_cast<float>(denominator) : 0.0f;
  const bool plain = options.class_weights.empty() && options.focal_gamma == 0;
  const double sum_of_weights = std::accumulate(options.class_weights.begin(), options.class_weights.end(), 0.0);
  const auto plain_row = HEARTH_SIMD(cross_entropy_row);
  const auto weighted_row = HEARTH_SIMD(weighted_cross_entropy_row);
  double* const losses = scratch<double, Scratch::partial_sums>(rows);  // (rows)
  const std::int64_t rows_at_once = std::max<std::int64_t>(1, kFlatChunk / std::max<std::int64_t>(1, classes));
  cpu::parallel_chunks(rows, rows_at_once, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const float* const x = logits + row * classes;
      float* const dx = dlogits == nullptr ? nullptr : dlogits + row * classes;
      if (!counts(options, labels[row])) {
        losses[row] = 0;
        if (dx != nullptr) std::fill_n(dx, classes, 0.0f);
      } else if (plain) {
        losses[row] = plain_row(classes, x, labels[row], options.label_smoothing, scale, dx);
      } else {
        losses[row] = weighted_row(classes, x, labels[row], options, sum_of_weights, scale, dx);
      }
    }
  });
  if (denominator == 0) return std::numeric_limits<float>::quiet_NaN();
  return static_cast<float>(std::accumulate(losses, losses + rows, 0.0) / denominator);
}

}  // namespace hearth::kernels
#endif
