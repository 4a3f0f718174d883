// Attention in blocks, over a struct of products such as F32Products (attention_products-inl.h).

#if defined(HEARTH_KERNELS_ATTENTION_BLOCKED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEARTH_KERNELS_ATTENTION_BLOCKED_INL_H_
#undef HEARTH_KERNELS_ATTENTION_BLOCKED_INL_H_
#else
#define HEARTH_KERNELS_ATTENTION_BLOCKED_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "hearth/cpu/parallel.h"
#include "hearth/kernels/attention_head.h"
#include "hearth/kernels/attention_scratch.h"
#include "hearth/kernels/attention_units.h"
#include "hearth/kernels/dropout-inl.h"
#include "hearth/kernels/math-inl.h"
#include "hearth/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {

using F32Vec = hn::Vec<F32>;
inline constexpr std::int64_t kLanes = hn::MaxLanes(F32());

// Dropout's factors for a row's probabilities, a block of keys at a time; ones without dropout.
class AttentionDropout {
 public:
  AttentionDropout(const AttentionHead& head, std::int64_t query)
      : dropout_(head.args.dropout), sample_(head.sample()), row_(head.dropout_row(query)) {
    if (!dropout_.active()) std::ranges::fill(factors_, 1.0f);
  }

  // Of the kDropoutBlock keys from `first`, a multiple of it.
  HWY_INLINE const float* factors(std::int64_t first) {
    if (dropout_.active())
      dropout_block(F32(), dropout_.key, sample_, row_, static_cast<std::uint32_t>(first / kDropoutBlock),
                    dropout_.threshold(), dropout_.scale(), factors_);
    return factors_;
  }

 private:
  const Dropout& dropout_;
  std::uint32_t sample_, row_;
  HWY_ALIGN float factors_[kDropoutBlock];
};

template <class T>
HWY_INLINE void store_row(const float* row, std::int64_t dim, float factor, T* to) {
  for_vectors(F32(), dim, [&](std::int64_t i, auto lanes) HWY_ATTR {
    lanes.store(F32(), hn::Mul(hn::LoadU(F32(), row + i), hn::Set(F32(), factor)), to + i);
  });
}

// A row of Q K^T becomes exp(scale * (s - the row's maximum)), times dropout's factors, in whole vectors of keys.
struct RowStatistics {
  float max, sum;  // of scale * s; of the exponentials before dropout
};
HWY_NOINLINE RowStatistics softmax_row(const AttentionHead& head, std::int64_t query, float* row) {
  const F32 f32;
  const std::int64_t end = (head.keys + kLanes - 1) / kLanes * kLanes;
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

inline constexpr std::int64_t kUnitQueries = 192;    // of one unit of forward: enough to pay for packing K and V
inline constexpr std::int64_t kForwardQueries = 24;  // whose scores are held at a time
inline constexpr std::int64_t kForwardKeys = 64;     // whose values stay in the first-level cache

template <class Products>
struct ForwardBuffers {
  typename Products::Columns k;
  typename Products::Rows panel, v, q, scores, out;

  ForwardBuffers(Carver& carver, std::int64_t keys, std::int64_t dim)
      : k(carver, keys, dim),
        panel(carver, Products::kPanel, dim),
        v(carver, keys, dim),
        q(carver, kForwardQueries, dim),
        scores(carver, kForwardQueries, keys),
        out(carver, kForwardQueries, dim) {}
};

template <class Products, class T>
HWY_NOINLINE void forward_unit(const AttentionArgs& args, const AttentionUnit& unit, std::int64_t most_keys) {
  const AttentionHead head{args, unit.sequence, unit.head};
  const std::int64_t dim = head.dim, keys = head.keys;
  const auto buffers = attention_scratch<ForwardBuffers<Products>>(most_keys, dim);

  for (std::int64_t j = 0; j < keys; j += Products::kPanel) {
    const std::int64_t count = std::min(Products::kPanel, keys - j);
    buffers.panel.fill(count, dim, head.row<T>(args.k, j, args.stride), args.stride);
    buffers.k.fill(j, count, buffers.panel);
  }
  buffers.v.fill(keys, dim, head.row<T>(args.v, 0, args.stride), args.stride);

  for (std::int64_t i = unit.begin; i < unit.end; i += kForwardQueries) {
    const std::int64_t count = std::min(kForwardQueries, unit.end - i);
    buffers.q.fill(count, dim, head.row<T>(args.q, i, args.stride), args.stride);
    Products::multiply(count, keys, dim, buffers.q.left(0, 0), buffers.k.right(), buffers.scores, false);
    RowStatistics rows[kForwardQueries];
    for (std::int64_t r = 0; r < count; ++r) rows[r] = softmax_row(head, i + r, buffers.scores.row(r));
    for (std::int64_t j = 0; j < keys; j += kForwardKeys)
      Products::multiply(count, dim, std::min(kForwardKeys, keys - j), buffers.scores.left(0, j), buffers.v.right(j),
                         buffers.out, j > 0);
    for (std::int64_t r = 0; r < count; ++r) {
      head.lse(i + r) = rows[r].max + std::log(rows[r].sum);
      store_row(buffers.out.row(r), dim, 1 / rows[r].sum, head.row<T>(args.out, i + r, head.width));
    }
  }
}

// Scores s and dP of a query and `count` keys from `first` become the dropped probabilities and dS / scale, in whole
// vectors. `delta` is the sum over all keys of P * dP, which is that of dout * out.
HWY_NOINLINE void gradient_row(const AttentionHead& head, std::int64_t query, std::int64_t first, std::int64_t count,
                               float delta, float* HWY_RESTRICT s, float* HWY_RESTRICT dp) {
  const F32 f32;
  const F32Vec scale = hn::Set(f32, head.args.scale), lse = hn::Set(f32, head.lse(query));
  AttentionDropout dropout(head, query);
  const float* factors = dropout.factors(first);
  for (std::int64_t j = 0; j < count; j += kLanes) {
    const F32Vec p = exp_f32(f32, hn::MulSub(hn::LoadU(f32, s + j), scale, lse));
    const F32Vec factor = hn::Load(f32, factors + j);
    const F32Vec ds = hn::Mul(p, hn::MulSub(hn::LoadU(f32, dp + j), factor, hn::Set(f32, delta)));
    hn::StoreU(hn::Mul(p, factor), f32, s + j);
    hn::StoreU(ds, f32, dp + j);
  }
}

template <class T>
HWY_INLINE float dot_row(const float* a, const T* b, std::int64_t dim) {
  return sum_vectors(F32(), dim, [&](std::int64_t i, auto lanes) HWY_ATTR {
    return hn::Mul(lanes.load(F32(), a + i), lanes.load(F32(), b + i));
  });
}

inline constexpr std::int64_t kBackwardQueries = 48;          // by
inline constexpr std::int64_t kBackwardKeys = kDropoutBlock;  // probabilities are held at a time

template <class Products>
struct BackwardBuffers {
  typename Products::Rows q, dout, dq;   // of all queries
  typename Products::Rows k, v, dk, dv;  // of a block of keys
  typename Products::Columns kt, vt;
  typename Products::Rows p, ds;  // (kBackwardQueries, kBackwardKeys)
  float* delta;

  BackwardBuffers(Carver& carver, std::int64_t length, std::int64_t dim)
      : q(carver, length, dim),
        dout(carver, length, dim),
        dq(carver, length, dim),
        k(carver, kBackwardKeys, dim),
        v(carver, kBackwardKeys, dim),
        dk(carver, kBackwardKeys, dim),
        dv(carver, kBackwardKeys, dim),
        kt(carver, kBackwardKeys, dim),
        vt(carver, kBackwardKeys, dim),
        p(carver, kBackwardQueries, kBackwardKeys),
        ds(carver, kBackwardQueries, kBackwardKeys),
        delta(carver.floats(length)) {}
};

template <class Products, class T>
HWY_NOINLINE void backward_unit(const AttentionArgs& args, const AttentionGradArgs& grads, const AttentionUnit& unit,
                                std::int64_t longest) {
  const AttentionHead head{args, unit.sequence, unit.head};
  const std::int64_t dim = head.dim;
  const auto buffers = attention_scratch<BackwardBuffers<Products>>(longest, dim);

  buffers.q.fill(head.length, dim, head.row<T>(args.q, 0, args.stride), args.stride);
  buffers.dout.fill(head.length, dim, head.row<T>(grads.dout, 0, head.width), head.width);
  for (std::int64_t i = 0; i < head.length; ++i)
    buffers.delta[i] = dot_row(buffers.dout.row(i), head.row<T>(args.out, i, head.width), dim);

  for (std::int64_t j = 0; j < head.keys; j += kBackwardKeys) {
    const std::int64_t keys = std::min(kBackwardKeys, head.keys - j);
    buffers.k.fill(keys, dim, head.row<T>(args.k, j, args.stride), args.stride);
    buffers.v.fill(keys, dim, head.row<T>(args.v, j, args.stride), args.stride);
    buffers.kt.fill(0, keys, buffers.k);
    buffers.vt.fill(0, keys, buffers.v);

    for (std::int64_t i = 0; i < head.length; i += kBackwardQueries) {
      const std::int64_t queries = std::min(kBackwardQueries, head.length - i);
      Products::multiply(queries, keys, dim, buffers.q.left(i, 0), buffers.kt.right(), buffers.p, false);
      Products::multiply(queries, keys, dim, buffers.dout.left(i, 0), buffers.vt.right(), buffers.ds, false);
      for (std::int64_t r = 0; r < queries; ++r)
        gradient_row(head, i + r, j, keys, buffers.delta[i + r], buffers.p.row(r), buffers.ds.row(r));
      Products::multiply(keys, dim, queries, buffers.p.left_transposed(0, 0), buffers.dout.right(i), buffers.dv, i > 0);
      Products::multiply(keys, dim, queries, buffers.ds.left_transposed(0, 0), buffers.q.right(i), buffers.dk, i > 0);
      Products::multiply(queries, dim, keys, buffers.ds.left(0, 0), buffers.k.right(0), buffers.dq.from(i), j > 0);
    }
    for (std::int64_t r = 0; r < keys; ++r) {
      store_row(buffers.dk.row(r), dim, args.scale, head.row<T>(grads.dk, j + r, grads.dstride));
      store_row(buffers.dv.row(r), dim, 1, head.row<T>(grads.dv, j + r, grads.dstride));
    }
  }
  for (std::int64_t i = 0; i < head.length; ++i)
    store_row(buffers.dq.row(i), dim, args.scale, head.row<T>(grads.dq, i, grads.dstride));
  for (std::int64_t j = head.keys; j < head.length; ++j) {
    std::fill_n(head.row<T>(grads.dk, j, grads.dstride), dim, T());
    std::fill_n(head.row<T>(grads.dv, j, grads.dstride), dim, T());
  }
}

inline std::int64_t longest_sequence(const Sequences& sequences) {
  std::int64_t longest = 0;
  for (std::int64_t s = 0; s < sequences.count(); ++s)
    longest = std::max(longest, sequences.starts[s + 1] - sequences.starts[s]);
  return longest;
}

template <class Products, class T>
void forward_units(const AttentionArgs& args) {
  const auto units = attention_units(args.sequences, args.heads, kUnitQueries);
  const std::int64_t longest = longest_sequence(args.sequences);
  cpu::parallel_for(static_cast<std::int64_t>(units.size()),
                    [&](std::int64_t i) { forward_unit<Products, T>(args, units[i], longest); });
}

// A head of a sequence is one unit: dk and dv are sums over its queries, in a fixed order.
template <class Products, class T>
void backward_units(const AttentionArgs& args, const AttentionGradArgs& grads) {
  const std::int64_t longest = longest_sequence(args.sequences);
  const auto units = attention_units(args.sequences, args.heads, longest);
  cpu::parallel_for(static_cast<std::int64_t>(units.size()),
                    [&](std::int64_t i) { backward_unit<Products, T>(args, grads, units[i], longest); });
}

}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
