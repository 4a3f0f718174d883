// Backward of attention with vector instructions, in f32 whatever the dtype T of its tensors. The formulas are at the
// top of panels_backward-inl.h.

#if defined(HEARTH_KERNELS_ATTENTION_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEARTH_KERNELS_ATTENTION_BACKWARD_INL_H_
#undef HEARTH_KERNELS_ATTENTION_BACKWARD_INL_H_
#else
#define HEARTH_KERNELS_ATTENTION_BACKWARD_INL_H_
#endif

#include <algorithm>

#include "hearth/cpu/parallel.h"
#include "hearth/kernels/attention/f32-inl.h"
#include "hearth/kernels/attention/rows-inl.h"
#include "hearth/kernels/attention/units.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {

// Queries and keys of the block whose probabilities are held at a time. 128 keys are one block of dropout's random
// numbers; no comparison of 48 with other values is on record.
inline constexpr std::int64_t kBackwardQueries = 48, kBackwardKeys = kDropoutBlock;

// For one query and the `count` keys from `first`: scores s become the probabilities after dropout, dP becomes
// dS / scale, both with zeros up to whole vectors. `delta` is the sum over all keys of P * dP, which equals the dot
// product of dout and out.
inline HWY_NOINLINE void gradient_row(const AttentionHead& head, std::int64_t query, std::int64_t first,
                                      std::int64_t count, float delta, float* HWY_RESTRICT s, float* HWY_RESTRICT dp) {
  const F32 f32;
  const F32Vec scale = hn::Set(f32, head.args.scale), lse = hn::Set(f32, head.lse(query));
  AttentionDropout dropout(head, query);
  const float* factors = dropout.factors(first);
  std::int64_t j = 0;
  for (; j < count; j += kLanes) {
    const F32Vec p = exp_f32(f32, hn::MulSub(hn::LoadU(f32, s + j), scale, lse));
    const F32Vec factor = hn::Load(f32, factors + j);
    const F32Vec ds = hn::Mul(p, hn::MulSub(hn::LoadU(f32, dp + j), factor, hn::Set(f32, delta)));
    hn::StoreU(hn::Mul(p, factor), f32, s + j);
    hn::StoreU(ds, f32, dp + j);
  }
  std::fill(s + count, s + j, 0.0f);
  std::fill(dp + count, dp + j, 0.0f);
}

template <class T>
struct BackwardBuffers {
  WidenedRows<T> q, dout;  // all queries
  Matrix dq;
  float* delta;
  WidenedColumns<T> kt, vt;  // one block of keys
  WidenedRows<T> k;
  Matrix dk, dv;
  Scores p, ds;

  BackwardBuffers(BufferCutter& cutter, std::int64_t length, std::int64_t dim)
      : q(cutter, length, dim),
        dout(cutter, length, dim),
        dq(cutter, length, dim),
        delta(cutter.floats(length)),
        kt(cutter, kBackwardKeys, dim),
        vt(cutter, kBackwardKeys, dim),
        k(cutter, kBackwardKeys, dim),
        dk(cutter, kBackwardKeys, dim),
        dv(cutter, kBackwardKeys, dim),
        p(cutter, kBackwardQueries, kBackwardKeys),
        ds(cutter, kBackwardQueries, kBackwardKeys) {}
};

template <class T>
HWY_NOINLINE void backward_unit(const AttentionArgs& args, const AttentionGradArgs& grads, const AttentionUnit& unit,
                                std::int64_t longest) {
  const AttentionHead head{args, unit.sequence, unit.head};
  const std::int64_t length = head.length, dim = head.dim, stride = args.stride, width = head.width;
  const auto buffers = attention_scratch<BackwardBuffers<T>>(longest, dim);
  buffers.q.fill(length, dim, head.row<T>(args.q, 0, stride), stride);
  buffers.dout.fill(length, dim, head.row<T>(grads.dout, 0, width), width);
  for (std::int64_t i = 0; i < length; ++i)
    buffers.delta[i] = dot_row(head.row<T>(grads.dout, i, width), head.row<const T>(args.out, i, width), dim);

  for (std::int64_t j = 0; j < head.keys; j += kBackwardKeys) {
    const std::int64_t keys = std::min(kBackwardKeys, head.keys - j);
    buffers.kt.fill(keys, dim, head.row<T>(args.k, j, stride), stride);
    buffers.vt.fill(keys, dim, head.row<T>(args.v, j, stride), stride);
    buffers.k.fill(keys, dim, head.row<T>(args.k, j, stride), stride);

    for (std::int64_t i = 0; i < length; i += kBackwardQueries) {
      const std::int64_t queries = std::min(kBackwardQueries, length - i);
      multiply(queries, keys, dim, buffers.q.left(i), buffers.kt.right(), buffers.p, false);
      multiply(queries, keys, dim, buffers.dout.left(i), buffers.vt.right(), buffers.ds, false);
      for (std::int64_t r = 0; r < queries; ++r)
        gradient_row(head, i + r, j, keys, buffers.delta[i + r], buffers.p.row(r), buffers.ds.row(r));
      const auto pt = buffers.p.left_transposed();
      const auto ds = buffers.ds.left(), dst = buffers.ds.left_transposed();
      multiply(keys, dim, queries, pt, buffers.dout.right(i), buffers.dv, i > 0);
      multiply(keys, dim, queries, dst, buffers.q.right(i), buffers.dk, i > 0);
      multiply(queries, dim, keys, ds, buffers.k.right(0), buffers.dq.from(i), j > 0);
    }

    for (std::int64_t r = 0; r < keys; ++r) {
      store_row(buffers.dk.row(r), dim, args.scale, head.row<T>(grads.dk, j + r, grads.dstride));
      store_row(buffers.dv.row(r), dim, 1, head.row<T>(grads.dv, j + r, grads.dstride));
    }
  }

  for (std::int64_t i = 0; i < length; ++i)
    store_row(buffers.dq.row(i), dim, args.scale, head.row<T>(grads.dq, i, grads.dstride));
  for (std::int64_t j = head.keys; j < length; ++j) {
    std::fill_n(head.row<T>(grads.dk, j, grads.dstride), dim, T());
    std::fill_n(head.row<T>(grads.dv, j, grads.dstride), dim, T());
  }
}

// One task per head and sequence: dk and dv are sums over all its queries, in a fixed order.
template <class T>
void backward_all(const AttentionArgs& args, const AttentionGradArgs& grads) {
  const std::int64_t longest = longest_sequence(args.sequences);
  const auto units = attention_units(args.sequences, args.heads, longest);
  cpu::parallel_for(static_cast<std::int64_t>(units.size()),
                    [&](std::int64_t i) { backward_unit<T>(args, grads, units[i], longest); });
}

}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
