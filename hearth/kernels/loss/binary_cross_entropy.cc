#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/loss/binary_cross_entropy.cc"
#include "hearth/kernels/simd/simd.h"
// After simd.h.
#include <hwy/foreach_target.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "hearth/cpu/parallel.h"
#include "hearth/kernels/loss/class_sums-inl.h"
#include "hearth/kernels/loss/loss.h"
#include "hearth/kernels/simd/chunks.h"
#include "hearth/kernels/simd/scratch.h"
// After simd.h.
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {
namespace {

using V = hn::Vec<F32>;

// p = sigmoid(x), q = 1 - p and their negative logarithms, none of which cancels or overflows.
struct Probabilities {
  V p, q, minus_log_p, minus_log_q;
};

HWY_INLINE Probabilities probabilities(F32 d, V x) {
  const V zero = hn::Zero(d), one = hn::Set(d, 1.0f);
  const V ratio = exp_f32(d, hn::Neg(hn::Abs(x)));
  const V larger = hn::Div(one, hn::Add(one, ratio)), smaller = hn::Mul(ratio, larger);
  const V log = hn::Log1p(d, ratio);
  const auto negative = hn::Lt(x, zero);
  // x86's max returns the second operand where one is a NaN.
  return {hn::IfThenElse(negative, smaller, larger), hn::IfThenElse(negative, larger, smaller),
          hn::Add(hn::Max(zero, hn::Neg(x)), log), hn::Add(hn::Max(zero, x), log)};
}

struct CellLoss {
  V value, slope;
};

HWY_INLINE CellLoss cell_loss(F32 d, const Probabilities& at, V target, V weight) {
  const V positive = hn::Mul(target, weight), negative = hn::Sub(hn::Set(d, 1.0f), target);
  return {hn::MulAdd(positive, at.minus_log_p, hn::Mul(negative, at.minus_log_q)),
          hn::MulSub(negative, at.p, hn::Mul(positive, at.q))};
}

// loss * r^gamma with r = target q + (1 - target) p, the probability of error.
HWY_INLINE CellLoss focal_loss(F32 d, const Probabilities& at, V target, V gamma, const CellLoss& loss) {
  const V one = hn::Set(d, 1.0f);
  const V error = hn::MulAdd(target, at.q, hn::Mul(hn::Sub(one, target), at.p));
  const V positive = hn::Max(error, hn::Set(d, std::numeric_limits<float>::min()));
  const V factor = exp_f32(d, hn::Mul(gamma, hn::Log(d, positive)));
  const V slope_of_error = hn::Mul(hn::NegMulAdd(hn::Set(d, 2.0f), target, one), hn::Mul(at.p, at.q));
  const V slope_of_log = hn::Mul(gamma, hn::Div(slope_of_error, positive));
  return {hn::Mul(factor, loss.value), hn::Mul(factor, hn::MulAdd(slope_of_log, loss.value, loss.slope))};
}

// The loss of one row; dlogits (labels), where not null, receives `scale` times its gradient.
double binary_cross_entropy_row(std::int64_t labels, const float* logits, const float* targets,
                                const BinaryCrossEntropyOptions& options, float scale, float* dlogits) {
  const F32 d;
  const float* const weights = options.class_weights.empty() ? nullptr : options.class_weights.data();
  return sum_in_blocks(labels, [&](std::int64_t i, auto lanes) HWY_ATTR {
    const V target = lanes.load(d, targets + i);
    const V weight = weights == nullptr ? hn::Set(d, 1.0f) : lanes.load(d, weights + i);
    const Probabilities at = probabilities(d, lanes.load(d, logits + i));
    CellLoss loss = cell_loss(d, at, target, weight);
    if (options.focal_gamma != 0) loss = focal_loss(d, at, target, hn::Set(d, options.focal_gamma), loss);
    if (dlogits != nullptr) lanes.store(d, hn::Mul(loss.slope, hn::Set(d, scale)), dlogits + i);
    return lanes.or_else(d, loss.value, 0.0f);
  });
}

}  // namespace
}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearth::kernels {

float binary_cross_entropy(std::int64_t rows, std::int64_t labels, const float* logits, const float* targets,
                           const BinaryCrossEntropyOptions& options, float* dlogits) {
  const auto cells = static_cast<double>(rows * labels);
  const auto scale = static_cast<float>(1.0 / cells);
  double* const losses = scratch<double, Scratch::partial_sums>(rows);  // (rows)
  const auto run = HEARTH_SIMD(binary_cross_entropy_row);
  const std::int64_t rows_at_once = std::max<std::int64_t>(1, kFlatChunk / std::max<std::int64_t>(1, labels));
  cpu::parallel_chunks(rows, rows_at_once, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      float* const drow = dlogits == nullptr ? nullptr : dlogits + row * labels;
      losses[row] = run(labels, logits + row * labels, targets + row * labels, options, scale, drow);
    }
  });
  return static_cast<float>(std::accumulate(losses, losses + rows, 0.0) / cells);
}

}  // namespace hearth::kernels
#endif
