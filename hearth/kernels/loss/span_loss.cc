#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/loss/span_loss.cc"
#include "hearth/kernels/simd/simd.h"
// After simd.h.
#include <hwy/foreach_target.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "hearth/cpu/parallel.h"
#include "hearth/kernels/loss/loss.h"
#include "hearth/kernels/simd/math-inl.h"
#include "hearth/kernels/simd/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {
namespace {

// Start and end logits alternate in memory, and therefore in the lanes.
hn::Vec<F32> alternate(F32 d, float even, float odd) { return hn::OddEven(hn::Set(d, odd), hn::Set(d, even)); }

// log(sum(exp(logits))) of the start and of the end logits; dlogits, if not null, receives weight * softmax.
void span_softmax(std::int64_t length, const float* logits, const std::array<double, 2>& weight,
                  std::array<double, 2>& log_sum, float* dlogits) {
  const F32 d;
  constexpr std::size_t kLanes = hn::MaxLanes(F32());
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  HWY_ALIGN float lane[kLanes];

  auto largest = hn::Set(d, kLowest);
  for_vectors(d, 2 * length, [&](std::int64_t i, auto lanes) HWY_ATTR {
    largest = hn::Max(largest, lanes.or_else(d, lanes.load(d, logits + i), kLowest));
  });
  hn::Store(largest, d, lane);
  float max[2] = {kLowest, kLowest};
  for (std::size_t i = 0; i < kLanes; ++i) max[i % 2] = std::max(max[i % 2], lane[i]);

  const auto shift = alternate(d, max[0], max[1]);
  auto sums = hn::Zero(d);
  for_vectors(d, 2 * length, [&](std::int64_t i, auto lanes) HWY_ATTR {
    sums = hn::Add(sums, lanes.or_else(d, exp_f32(d, hn::Sub(lanes.load(d, logits + i), shift)), 0.0f));
  });
  hn::Store(sums, d, lane);
  std::array<double, 2> sum = {0, 0};
  for (std::size_t i = 0; i < kLanes; ++i) sum[i % 2] += lane[i];
  for (std::size_t i = 0; i < 2; ++i) log_sum[i] = std::log(sum[i]) + max[i];

  if (dlogits == nullptr) return;
  const auto factor = alternate(d, static_cast<float>(weight[0] / sum[0]), static_cast<float>(weight[1] / sum[1]));
  for_vectors(d, 2 * length, [&](std::int64_t i, auto lanes) HWY_ATTR {
    lanes.store(d, hn::Mul(exp_f32(d, hn::Sub(lanes.load(d, logits + i), shift)), factor), dlogits + i);
  });
}

}  // namespace
}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearth::kernels {

using Pair = std::array<double, 2>;  // of the start, of the end

float span_loss(const Sequences& sequences, const float* logits, const std::int64_t* starts, const std::int64_t* ends,
                float* dlogits) {
  const std::int64_t count = sequences.count();
  const auto first_token = [&](std::int64_t s) { return sequences.starts[static_cast<std::size_t>(s)]; };
  const auto length = [&](std::int64_t s) { return first_token(s + 1) - first_token(s); };
  const auto position = [&](std::int64_t s, std::size_t side) {
    return std::max<std::int64_t>(0, side == 0 ? starts[s] : ends[s]);
  };
  const auto counts = [&](std::int64_t s, std::size_t side) { return position(s, side) < length(s); };

  std::array<std::int64_t, 2> counted = {0, 0};
  for (std::int64_t s = 0; s < count; ++s)
    for (std::size_t side = 0; side < 2; ++side) counted[side] += counts(s, side);

  Pair* const losses = scratch<Pair, Scratch::partial_sums>(count);  // (count)
  const auto softmax = HEARTH_SIMD(span_softmax);
  cpu::parallel_for(count, [&](std::int64_t s) {
    const float* const rows = logits + 2 * first_token(s);
    float* const drows = dlogits == nullptr ? nullptr : dlogits + 2 * first_token(s);
    Pair weight, log_sum;
    for (std::size_t side = 0; side < 2; ++side)
      weight[side] = counts(s, side) ? 0.5 / static_cast<double>(counted[side]) : 0.0;
    softmax(length(s), rows, weight, log_sum, drows);
    for (std::size_t side = 0; side < 2; ++side) {
      losses[s][side] = 0;
      if (!counts(s, side)) continue;
      const std::int64_t target = 2 * position(s, side) + static_cast<std::int64_t>(side);
      losses[s][side] = log_sum[side] - rows[target];
      if (drows != nullptr) drows[target] -= static_cast<float>(weight[side]);
    }
  });
  Pair total = {0, 0};
  for (std::int64_t s = 0; s < count; ++s)
    for (std::size_t side = 0; side < 2; ++side) total[side] += losses[s][side];
  return static_cast<float>(0.5 *
                            (total[0] / static_cast<double>(counted[0]) + total[1] / static_cast<double>(counted[1])));
}

}  // namespace hearth::kernels
#endif
