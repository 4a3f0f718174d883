// Forward of attention with vector instructions, in f32 whatever the dtype T of its tensors.

#if defined(HEARTH_KERNELS_ATTENTION_FORWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEARTH_KERNELS_ATTENTION_FORWARD_INL_H_
#undef HEARTH_KERNELS_ATTENTION_FORWARD_INL_H_
#else
#define HEARTH_KERNELS_ATTENTION_FORWARD_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <limits>

#include "hearth/base/rounding.h"
#include "hearth/cpu/parallel.h"
#include "hearth/kernels/attention/f32-inl.h"
#include "hearth/kernels/attention/rows-inl.h"
#include "hearth/kernels/attention/units.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {

// Block sizes.
inline constexpr std::int64_t kUnitQueries = 192;    // queries per task: enough to pay for packing K and V
inline constexpr std::int64_t kForwardQueries = 24;  // queries whose rows of scores are held at a time
inline constexpr std::int64_t kForwardKeys = 64;     // keys whose rows of V stay in the L1 cache

struct RowStatistics {
  float max, sum;
};

// Turns a row of scores s into exp(scale * s - max) times dropout's factors, with zeros up to whole vectors of keys.
// `max` is the largest scale * s; `sum` is the sum of the exponentials before dropout.
inline HWY_NOINLINE RowStatistics softmax_row(const AttentionHead& head, std::int64_t query, float* row) {
  const F32 f32;
  const std::int64_t end = round_up(head.keys, kLanes);
  std::fill(row + head.keys, row + end, -std::numeric_limits<float>::infinity());

  F32Vec maxima = hn::LoadU(f32, row);
  for (std::int64_t j = kLanes; j < end; j += kLanes) maxima = hn::Max(maxima, hn::LoadU(f32, row + j));
  const float scale = head.args.scale, max = scale * hn::GetLane(hn::MaxOfLanes(f32, maxima));

  AttentionDropout dropout(head, query);
  F32Vec sums = hn::Zero(f32);
  for (std::int64_t first = 0; first < end; first += kDropoutBlock) {
    const float* factors = dropout.factors(first);
    for (std::int64_t j = 0; j < std::min(kDropoutBlock, end - first); j += kLanes) {
      float* HWY_RESTRICT at = row + first + j;
      const F32Vec p = exp_f32(f32, hn::MulSub(hn::LoadU(f32, at), hn::Set(f32, scale), hn::Set(f32, max)));
      sums = hn::Add(sums, p);
      hn::StoreU(hn::Mul(p, hn::Load(f32, factors + j)), f32, at);
    }
  }
  return {max, hn::GetLane(hn::SumOfLanes(f32, sums))};
}

template <class T>
struct ForwardBuffers {
  WidenedColumns<T> k;
  WidenedRows<T> v, q;
  Scores scores;
  Matrix out;

  ForwardBuffers(BufferCutter& cutter, std::int64_t keys, std::int64_t dim)
      : k(cutter, keys, dim),
        v(cutter, keys, dim),
        q(cutter, kForwardQueries, dim),
        scores(cutter, kForwardQueries, keys),
        out(cutter, kForwardQueries, dim) {}
};

template <class T>
HWY_NOINLINE void forward_unit(const AttentionArgs& args, const AttentionUnit& unit, std::int64_t most_keys) {
  const AttentionHead head{args, unit.sequence, unit.head};
  const std::int64_t keys = head.keys, dim = head.dim, stride = args.stride;
  const auto buffers = attention_scratch<ForwardBuffers<T>>(most_keys, dim);
  buffers.k.fill(keys, dim, head.row<T>(args.k, 0, stride), stride);
  buffers.v.fill(keys, dim, head.row<T>(args.v, 0, stride), stride);

  for (std::int64_t i = unit.begin; i < unit.end; i += kForwardQueries) {
    const std::int64_t queries = std::min(kForwardQueries, unit.end - i);
    buffers.q.fill(queries, dim, head.row<T>(args.q, i, stride), stride);
    multiply(queries, keys, dim, buffers.q.left(0), buffers.k.right(), buffers.scores, false);

    RowStatistics statistics[kForwardQueries];
    for (std::int64_t r = 0; r < queries; ++r) statistics[r] = softmax_row(head, i + r, buffers.scores.row(r));

    const auto p = buffers.scores.left();
    for (std::int64_t j = 0; j < keys; j += kForwardKeys)
      multiply(queries, dim, std::min(kForwardKeys, keys - j), p.from(j), buffers.v.right(j), buffers.out, j > 0);

    for (std::int64_t r = 0; r < queries; ++r) {
      const auto [max, sum] = statistics[r];
      head.lse(i + r) = max + std::log(sum);
      store_row(buffers.out.row(r), dim, 1 / sum, head.row<T>(args.out, i + r, head.width));
    }
  }
}

template <class T>
void forward_all(const AttentionArgs& args) {
  const auto units = attention_units(args.sequences, args.heads, kUnitQueries);
  const std::int64_t longest = longest_sequence(args.sequences);
  cpu::parallel_for(static_cast<std::int64_t>(units.size()),
                    [&](std::int64_t i) { forward_unit<T>(args, units[i], longest); });
}

}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
