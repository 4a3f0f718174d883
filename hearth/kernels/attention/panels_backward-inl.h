// Backward of attention on packed panels. `Tiles` is a tile unit (simd/tiles.h), `T` is BFloat16 or Float16.
//
// With S = scale Q K^T, P = softmax(S), M dropout's mask (0 or 1 / (1 - p)) and O = (M P) V, the gradients are
//   dV = (M P)^T dO         dP = dO V^T        delta = the row sums of dO O, which equal those of P M dP
//   dS = P (M dP - delta)   dQ = scale dS K    dK = scale dS^T Q
// P is recomputed from Q, K and the saved log-sum-exp: P = 2^(S log2(e) - lse log2(e)).
//
// One task is one head of one sequence (panels_backward_all). It runs
//   pack_queries           Q, dO in the layouts needed below; lse and -delta per query
//   for each block of 128 keys:
//     pack_keys            K, V, K^T
//     for each block of 256 queries:
//       block_masks        dropout's bits: those that forward kept, or the same once more
//       compute_gradients  S^T = K Q^T and dP^T = V dO^T, 32 x 32 at a time; from them P^T and dS^T as panels
//       multiply_gradients dV += P^T dO, dK += dS^T Q, dQ^T += K^T dS^T
//     store_keys           dK, dV of the block, rounded to T
//   store_queries          dQ, transposed back
//
// Scores are kept transposed, (keys, queries). P^T and dS^T are then left operands of dV and dK as they are, and the
// same dS^T with neighbouring keys interleaved ("pairs", "zipped") is the right operand of dQ^T. Interleaving permutes
// the queries within 128-bit lanes; zipped_column (gemm/panels.h) says which query a column holds, and
// store_queries puts it back. "left", "right", "panel" and "tile" are those of gemm/panel_product-inl.h.

#if defined(HEARTH_KERNELS_ATTENTION_PANELS_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEARTH_KERNELS_ATTENTION_PANELS_BACKWARD_INL_H_
#undef HEARTH_KERNELS_ATTENTION_PANELS_BACKWARD_INL_H_
#else
#define HEARTH_KERNELS_ATTENTION_PANELS_BACKWARD_INL_H_
#endif

#include <algorithm>

#include "hearth/cpu/parallel.h"
#include "hearth/kernels/attention/panels_rows-inl.h"
#include "hearth/kernels/attention/units.h"

#if HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {

// Keys and queries per block: enough to pay for loading and storing the sums, and few enough that P and dS of a block
// (64 KiB each in bf16, twice that in fp16, and as much for the zipped dS) stay in the L2 cache. 128 is also the block
// of dropout's random numbers.
inline constexpr std::int64_t kKeysOfBlock = kDropoutBlock, kQueriesOfBlock = 256;

// Scratch of one task. Matrices are f32.
template <class T>
struct PanelBackwardBuffers {
  // All queries of the sequence.
  Panels<T> q_right, dout_right;  // right: (dim, queries)
  Panels<T> q_pairs, dout_pairs;  // right: (queries, dim)
  float *lse, *minus_delta;       // per query; lse as a base-2 logarithm
  Matrix dq;                      // (dim, queries), queries in zipped order

  // One block of keys, and of queries where they are named.
  Panels<T> k, v;          // left: (keys, dim)
  Panels<T> k_transposed;  // left: (dim, keys)
  Matrix dk, dv;           // (keys, dim)
  Matrix s[2], dp[2];      // (32 keys, 32 queries)
  Panels<T> p, ds;         // left: (keys, queries)
  Panels<T> ds_pairs;      // right: (keys, queries)
  std::uint16_t* masks;    // (keys / 16, queries), unless forward kept them
  Matrix some_dq;          // (16 queries, dim): dq being transposed

  PanelBackwardBuffers(BufferCutter& cutter, std::int64_t length, std::int64_t dim)
      : q_right(carve_panels<T>(cutter, length, dim)),
        dout_right(carve_panels<T>(cutter, length, dim)),
        q_pairs(carve_panels<T>(cutter, dim, length)),
        dout_pairs(carve_panels<T>(cutter, dim, length)),
        lse(cutter.floats(padded(length))),
        minus_delta(cutter.floats(padded(length))),
        dq(cutter, padded(dim), padded(length)),
        k(carve_panels<T>(cutter, kKeysOfBlock, dim)),
        v(carve_panels<T>(cutter, kKeysOfBlock, dim)),
        k_transposed(carve_panels<T>(cutter, dim, kKeysOfBlock)),
        dk(cutter, kKeysOfBlock, padded(dim)),
        dv(cutter, kKeysOfBlock, padded(dim)),
        s{{cutter.floats(kBlockScores), kSide}, {cutter.floats(kBlockScores), kSide}},
        dp{{cutter.floats(kBlockScores), kSide}, {cutter.floats(kBlockScores), kSide}},
        p(carve_panels<T>(cutter, kKeysOfBlock, kQueriesOfBlock)),
        ds(carve_panels<T>(cutter, kKeysOfBlock, kQueriesOfBlock)),
        ds_pairs(carve_panels<T>(cutter, kQueriesOfBlock, kKeysOfBlock)),
        masks(carve_masks(cutter, kMasksOfBlock * kQueriesOfBlock)),
        some_dq(cutter, kLanes, padded(dim)) {}
};

template <panels::TileUnit Tiles, class T>
class PanelBackward {
 public:
  PanelBackward(const AttentionArgs& args, const AttentionGradArgs& grads, const AttentionUnit& unit,
                const QueryMasks& kept_masks, std::int64_t longest)
      : args_(args),
        grads_(grads),
        head_{args, unit.sequence, unit.head},
        kept_masks_(kept_masks),
        dim_panels_(panels::panels_of(head_.dim)),
        buffers_(attention_scratch<PanelBackwardBuffers<T>>(longest, head_.dim)) {}

  void run() const {
    pack_queries();
    for (std::int64_t j = 0; j < head_.keys; j += kKeysOfBlock) {
      const std::int64_t keys = std::min(kKeysOfBlock, head_.keys - j);
      pack_keys(j, keys);
      const DropoutMasks dropout(args_.dropout, head_.sample(), static_cast<std::uint32_t>(j / kDropoutBlock));
      for (std::int64_t i = 0; i < head_.length; i += kQueriesOfBlock) {
        const std::int64_t queries = std::min(kQueriesOfBlock, head_.length - i);
        compute_gradients(keys, i, queries, block_masks(dropout, j, i, queries));
        multiply_gradients(keys, i, queries, j > 0);
      }
      store_keys(j, keys);
    }
    store_queries();
    // Padding tokens are queries but no keys: their dK and dV are zero.
    for (std::int64_t j = head_.keys; j < head_.length; ++j) {
      std::fill_n(head_.row<T>(grads_.dk, j, grads_.dstride), head_.dim, T());
      std::fill_n(head_.row<T>(grads_.dv, j, grads_.dstride), head_.dim, T());
    }
  }

 private:
  HeadRows<T> rows(const void* data, std::int64_t first, std::int64_t stride, std::int64_t count) const {
    return {head_.row<T>(data, first, stride), stride, count, head_.dim};
  }

  HWY_NOINLINE void pack_queries() const {
    const std::int64_t length = head_.length;
    const HeadRows<T> q = rows(args_.q, 0, args_.stride, length), dout = rows(grads_.dout, 0, head_.width, length);
    q.pack_right(buffers_.q_right);
    q.pack_right_transposed(buffers_.q_pairs);
    dout.pack_right(buffers_.dout_right);
    dout.pack_right_transposed(buffers_.dout_pairs);
    for (std::int64_t i = 0; i < length; ++i) {
      buffers_.lse[i] = head_.lse(i) * kLog2E;
      buffers_.minus_delta[i] =
          -dot_row(dout.data + i * head_.width, head_.row<const T>(args_.out, i, head_.width), head_.dim);
    }
    // Up to whole panels. P of these queries adds nothing: the packed dout is 0 there, and steps whose P was not
    // computed are left out (panels::Wanted).
    std::fill(buffers_.lse + length, buffers_.lse + padded(length), 0.0f);
    std::fill(buffers_.minus_delta + length, buffers_.minus_delta + padded(length), 0.0f);
  }

  void pack_keys(std::int64_t first, std::int64_t keys) const {
    const HeadRows<T> k = rows(args_.k, first, args_.stride, keys), v = rows(args_.v, first, args_.stride, keys);
    k.pack_left(buffers_.k);
    v.pack_left(buffers_.v);
    k.pack_left_transposed(buffers_.k_transposed);
  }

  // The masks of a block: as forward kept them, or computed again.
  QueryMasks block_masks(const DropoutMasks& dropout, std::int64_t first_key, std::int64_t first_query,
                         std::int64_t queries) const {
    if (kept_masks_.data != nullptr)
      return {kept_masks_.data + first_key / 16 * kept_masks_.step + first_query, kept_masks_.step};
    const QueryMasks masks{buffers_.masks, kQueriesOfBlock};
    if (args_.dropout.active())
      fill_masks(dropout, head_, first_query, queries, masks);
    else
      std::fill_n(masks.data, kMasksOfBlock * kQueriesOfBlock, std::uint16_t{0xffff});
    return masks;
  }

  // P and dS of a block of keys and queries, written as the operands of multiply_gradients. On AMX, the vector units
  // work on one 32 x 32 block while the tile unit multiplies the next, so s and dp are two buffers each, used in turn.
  void compute_gradients(std::int64_t keys, std::int64_t first_query, std::int64_t queries,
                         const QueryMasks& masks) const {
    const std::int64_t key_panels = panels::panels_of(keys), blocks = panels::panels_of(queries) * key_panels;
    for (std::int64_t block = 0; block <= blocks; ++block) {
      if (block < blocks) multiply_scores(block, first_query, keys, queries, key_panels);
      if (block > 0) finish_scores(block - 1, first_query, keys, key_panels, masks);
    }
  }

  void multiply_scores(std::int64_t block, std::int64_t first_query, std::int64_t keys, std::int64_t queries,
                       std::int64_t key_panels) const {
    const std::int64_t i = block / key_panels, j = block % key_panels, query_panel = first_query / kSide + i;
    const panels::Wanted wanted{std::min(kSide, keys - j * kSide), std::min(kSide, queries - i * kSide),
                                last_of(head_.dim)};
    const Matrix &s = buffers_.s[block % 2], &dp = buffers_.dp[block % 2];
    panels::multiply_panels<Tiles>(1, 1, dim_panels_, buffers_.k.from(j, 0), buffers_.q_right.from(query_panel, 0),
                                   s.data, s.pitch, false, wanted);
    panels::multiply_panels<Tiles>(1, 1, dim_panels_, buffers_.v.from(j, 0), buffers_.dout_right.from(query_panel, 0),
                                   dp.data, dp.pitch, false, wanted);
  }

  void finish_scores(std::int64_t block, std::int64_t first_query, std::int64_t keys, std::int64_t key_panels,
                     const QueryMasks& masks) const {
    const std::int64_t i = block / key_panels, j = block % key_panels, query_panel = first_query / kSide + i;
    const GradientBlock gradient{buffers_.s[block % 2].data,
                                 buffers_.dp[block % 2].data,
                                 buffers_.lse + query_panel * kSide,
                                 buffers_.minus_delta + query_panel * kSide,
                                 masks.data + j * kSide / 16 * masks.step + i * kSide,
                                 masks.step,
                                 buffers_.p.at(j, i),
                                 buffers_.ds.at(j, i),
                                 buffers_.ds_pairs.at(i, j)};
    gradient_block<T>(gradient, keys - j * kSide, args_.scale * kLog2E, args_.dropout.scale());
  }

  // dV and dK accumulate over the blocks of queries, dQ over the blocks of keys.
  void multiply_gradients(std::int64_t keys, std::int64_t first_query, std::int64_t queries, bool adds_to_dq) const {
    const std::int64_t key_panels = panels::panels_of(keys), query_panels = panels::panels_of(queries);
    const std::int64_t first_panel = first_query / kSide;
    const Matrix &dk = buffers_.dk, &dv = buffers_.dv, &dq = buffers_.dq;
    const panels::Wanted keys_by_dim{last_of(keys), last_of(head_.dim), last_of(queries)};
    panels::multiply_panels<Tiles>(key_panels, dim_panels_, query_panels, buffers_.p,
                                   buffers_.dout_pairs.from(0, first_panel), dv.data, dv.pitch, first_query > 0,
                                   keys_by_dim);
    panels::multiply_panels<Tiles>(key_panels, dim_panels_, query_panels, buffers_.ds,
                                   buffers_.q_pairs.from(0, first_panel), dk.data, dk.pitch, first_query > 0,
                                   keys_by_dim);
    // Zipped columns: queries of a panel that is not full are spread over all of them.
    panels::multiply_panels<Tiles>(dim_panels_, query_panels, key_panels, buffers_.k_transposed, buffers_.ds_pairs,
                                   dq.data + first_query, dq.pitch, adds_to_dq,
                                   {last_of(head_.dim), kSide, last_of(keys)});
  }

  HWY_NOINLINE void store_keys(std::int64_t first, std::int64_t keys) const {
    for (std::int64_t r = 0; r < keys; ++r) {
      store_rounded(buffers_.dk.row(r), head_.dim, args_.scale, head_.row<T>(grads_.dk, first + r, grads_.dstride));
      store_rounded(buffers_.dv.row(r), head_.dim, args_.dropout.scale(),
                    head_.row<T>(grads_.dv, first + r, grads_.dstride));
    }
  }

  // 16 columns of dq at a time become 16 rows, each of which belongs to the query that zipped_column names.
  HWY_NOINLINE void store_queries() const {
    const Matrix &dq = buffers_.dq, &some = buffers_.some_dq;
    for (std::int64_t column = 0; column < padded(head_.length); column += kLanes) {
      for (std::int64_t d = 0; d < padded(head_.dim); d += kLanes)
        for (std::int64_t c = 0; c < kLanes; c += 4)
          transpose_columns(dq.row(d) + column + c, dq.pitch, some.row(c) + d, some.pitch);
      for (std::int64_t c = 0; c < kLanes; ++c) {
        const std::int64_t query = panels::zipped_column(column + c);
        if (query < head_.length)
          store_rounded(some.row(c), head_.dim, args_.scale, head_.row<T>(grads_.dq, query, grads_.dstride));
      }
    }
  }

  const AttentionArgs& args_;
  const AttentionGradArgs& grads_;
  const AttentionHead head_;
  const QueryMasks kept_masks_;
  std::int64_t dim_panels_;
  PanelBackwardBuffers<T> buffers_;
  Tiles tiles_;
};

// One task per head and sequence: dk and dv are sums over all its queries, in a fixed order.
template <panels::TileUnit Tiles>
void panels_backward_all(const AttentionArgs& args, const AttentionGradArgs& grads) {
  const std::int64_t longest = longest_sequence(args.sequences);
  const auto units = attention_units(args.sequences, args.heads, longest);
  const KeptMasks masks(args);
  visit_16_bits(args.type, [&](auto value) {
    cpu::parallel_for(static_cast<std::int64_t>(units.size()), [&](std::int64_t i) {
      const QueryMasks kept = masks.of(units[i].sequence, units[i].head);
      PanelBackward<Tiles, decltype(value)>(args, grads, units[i], kept, longest).run();
    });
  });
}

}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
