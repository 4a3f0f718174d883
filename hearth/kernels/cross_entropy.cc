#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/cross_entropy.cc"
#include "hearth/kernels/simd.h"
// After simd.h.
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hearth/cpu/parallel.h"
#include "hearth/kernels/chunks.h"
#include "hearth/kernels/loss.h"
#include "hearth/kernels/math-inl.h"
#include "hearth/kernels/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {
namespace {

// Sums over thousands of classes move from f32 to f64 after this many terms.
constexpr std::int64_t kClassBlock = 1024;

float largest(std::int64_t n, const float* x) {
  const F32 d;
  const float lowest = -std::numeric_limits<float>::infinity();
  auto max = hn::Set(d, lowest);
  for_vectors(d, n, [&](std::int64_t i, auto lanes) HWY_ATTR {
    max = hn::Max(max, lanes.or_else(d, lanes.load(d, x + i), lowest));
  });
  return hn::GetLane(hn::MaxOfLanes(d, max));
}

// The sum of exp(x - max); each term is left in `terms` where that is not null.
double sum_of_exp(std::int64_t n, const float* x, float max, float* terms) {
  const F32 d;
  const auto shift = hn::Set(d, max);
  double sum = 0;
  for (std::int64_t first = 0; first < n; first += kClassBlock) {
    sum += sum_vectors(d, std::min(kClassBlock, n - first), [&](std::int64_t i, auto lanes) HWY_ATTR {
      const auto term = exp_f32(d, hn::Sub(lanes.load(d, x + first + i), shift));
      if (terms != nullptr) lanes.store(d, term, terms + first + i);
      return lanes.or_else(d, term, 0.0f);
    });
  }
  return sum;
}

double sum_of(std::int64_t n, const float* x) {
  const F32 d;
  double sum = 0;
  for (std::int64_t first = 0; first < n; first += kClassBlock)
    sum += sum_vectors(d, std::min(kClassBlock, n - first),
                       [&](std::int64_t i, auto lanes) HWY_ATTR { return lanes.load(d, x + first + i); });
  return sum;
}

// The loss of one row; dlogits (classes), where not null, receives `weight` times its gradient.
double cross_entropy_row(std::int64_t classes, const float* logits, std::int64_t label, float smoothing, float weight,
                         float* dlogits) {
  const F32 d;
  const double spread = static_cast<double>(smoothing) / static_cast<double>(classes);
  double target = (1.0 - smoothing) * logits[label];
  if (smoothing != 0) target += spread * sum_of(classes, logits);
  const float max = largest(classes, logits);
  const double sum = sum_of_exp(classes, logits, max, dlogits);
  if (dlogits != nullptr) {
    const auto factor = hn::Set(d, static_cast<float>(weight / sum));
    const auto share = hn::Set(d, static_cast<float>(weight * spread));
    for_vectors(d, classes, [&](std::int64_t i, auto lanes) HWY_ATTR {
      lanes.store(d, hn::MulSub(lanes.load(d, dlogits + i), factor, share), dlogits + i);
    });
    dlogits[label] -= weight * (1.0f - smoothing);
  }
  return std::log(sum) + max - target;
}

}  // namespace
}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearth::kernels {

float cross_entropy(std::int64_t rows, std::int64_t classes, const float* logits, const std::int64_t* labels,
                    std::int64_t ignore_label, float label_smoothing, float* dlogits) {
  const std::int64_t counted = rows - std::count(labels, labels + rows, ignore_label);
  const float weight = 1.0f / static_cast<float>(counted);
  double* const losses = scratch<double, Scratch::partial_sums>(rows);  // (rows)
  const auto run = HEARTH_SIMD(cross_entropy_row);
  const std::int64_t rows_at_once = std::max<std::int64_t>(1, kFlatChunk / std::max<std::int64_t>(1, classes));
  cpu::parallel_chunks(rows, rows_at_once, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      float* const drow = dlogits == nullptr ? nullptr : dlogits + row * classes;
      if (labels[row] != ignore_label) {
        losses[row] = run(classes, logits + row * classes, labels[row], label_smoothing, weight, drow);
      } else {
        losses[row] = 0;
        if (drow != nullptr) std::fill_n(drow, classes, 0.0f);
      }
    }
  });
  double total = 0;
  for (std::int64_t row = 0; row < rows; ++row) total += losses[row];
  return static_cast<float>(total / static_cast<double>(counted));
}

}  // namespace hearth::kernels
#endif
