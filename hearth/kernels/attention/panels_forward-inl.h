// Forward of attention on packed panels. `Tiles` is a tile unit (simd/tiles.h), `T` is BFloat16 or Float16.
// For 32 queries at a time: scores against all keys, their row maxima, softmax and dropout into a panel, then the
// matmul with V. A task packs K and V of its head and sequence once.

#if defined(HEARTH_KERNELS_ATTENTION_PANELS_FORWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEARTH_KERNELS_ATTENTION_PANELS_FORWARD_INL_H_
#undef HEARTH_KERNELS_ATTENTION_PANELS_FORWARD_INL_H_
#else
#define HEARTH_KERNELS_ATTENTION_PANELS_FORWARD_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <memory>

#include "hearth/base/rounding.h"
#include "hearth/cpu/parallel.h"
#include "hearth/kernels/attention/panels_rows-inl.h"
#include "hearth/kernels/attention/units.h"

#if HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {

// Queries per task (AttentionUnit): whole sequences of the usual lengths, so that K and V are packed once, unless that
// leaves too few tasks for many threads. The result of a query does not depend on the task that it is in.
inline std::int64_t panels_unit_queries(const AttentionArgs& args) {
  constexpr std::int64_t kFewest = 96, kMost = 512, kUnits = 64;
  static_assert(kFewest % kSide == 0 && kMost % kSide == 0);  // so that tasks share no panel of masks
  return std::clamp(padded(args.heads * args.sequences.tokens() / kUnits), kFewest, kMost);
}

// Dropout of a head's probabilities, 32 queries at a time.
class PanelDropout {
 public:
  PanelDropout(BufferCutter& cutter, std::int64_t keys)
      : blocks_(reinterpret_cast<DropoutMasks*>(cutter.floats(blocks_of(keys) * kFloats))),
        masks_(carve_masks(cutter, blocks_of(keys) * kMasksOfBlock * kSide)) {}

  void start(const AttentionHead& head) const {
    const std::int64_t blocks = blocks_of(head.keys);
    if (!head.args.dropout.active()) {
      std::fill_n(masks_, blocks * kMasksOfBlock * kSide, std::uint16_t{0xffff});
      return;
    }
    for (std::int64_t b = 0; b < blocks; ++b)
      std::construct_at(blocks_ + b, head.args.dropout, head.sample(), static_cast<std::uint32_t>(b));
  }

  // The masks of up to 32 queries from `first` on. They are written to their place in `kept`, if there is one.
  QueryMasks masks(const AttentionHead& head, std::int64_t first, std::int64_t queries, const QueryMasks& kept) const {
    const QueryMasks panel =
        kept.data == nullptr ? QueryMasks{masks_, kSide} : QueryMasks{kept.data + first, kept.step};
    if (head.args.dropout.active())
      for (std::int64_t b = 0; b < blocks_of(head.keys); ++b)
        fill_masks(blocks_[b], head, first, queries, {panel.data + b * kMasksOfBlock * panel.step, panel.step});
    return panel;
  }

 private:
  static constexpr std::int64_t kFloats = sizeof(DropoutMasks) / sizeof(float);
  static std::int64_t blocks_of(std::int64_t keys) { return divide_up(keys, kDropoutBlock); }

  DropoutMasks* blocks_;
  std::uint16_t* masks_;  // (keys / 16, 32 queries)
};

template <class T>
struct PanelForwardBuffers {
  Panels<T> k, v;  // right: (dim, keys), (keys, dim)
  Panels<T> q, p;  // left, of 32 queries: (32, dim), (32, keys)
  float* scores;   // blocks of 32 queries x 32 keys, one after the other
  Matrix out;
  float* maxima;
  PanelDropout dropout;

  PanelForwardBuffers(BufferCutter& cutter, std::int64_t keys, std::int64_t dim)
      : k(carve_panels<T>(cutter, keys, dim)),
        v(carve_panels<T>(cutter, dim, keys)),
        q(carve_panels<T>(cutter, kSide, dim)),
        p(carve_panels<T>(cutter, kSide, keys)),
        scores(cutter.floats(kSide * padded(keys))),
        out(cutter, kSide, padded(dim)),
        maxima(cutter.floats(kSide * kLanes)),
        dropout(cutter, keys) {}
};

template <panels::TileUnit Tiles, class T>
HWY_NOINLINE void panels_forward_unit(const AttentionArgs& args, const AttentionUnit& unit,
                                      const QueryMasks& kept_masks, std::int64_t most_keys) {
  const AttentionHead head{args, unit.sequence, unit.head};
  const std::int64_t keys = head.keys, dim = head.dim, stride = args.stride;
  const std::int64_t key_panels = panels::panels_of(keys), dim_panels = panels::panels_of(dim);
  const float scale = args.scale * kLog2E;
  const auto buffers = attention_scratch<PanelForwardBuffers<T>>(most_keys, dim);
  [[maybe_unused]] const Tiles tiles;
  buffers.dropout.start(head);
  HeadRows<T>{head.row<T>(args.k, 0, stride), stride, keys, dim}.pack_right(buffers.k);
  HeadRows<T>{head.row<T>(args.v, 0, stride), stride, keys, dim}.pack_right_transposed(buffers.v);

  for (std::int64_t i = unit.begin; i < unit.end; i += kSide) {
    const std::int64_t queries = std::min(kSide, unit.end - i);
    HeadRows<T>{head.row<T>(args.q, i, stride), stride, queries, dim}.pack_left(buffers.q);
    // On AMX, the vector units find the maxima of one panel while the tile unit multiplies the next.
    for (std::int64_t j = 0; j <= key_panels; ++j) {
      if (j < key_panels)
        panels::multiply_panels<Tiles>(1, 1, dim_panels, buffers.q, buffers.k.from(j, 0),
                                       buffers.scores + j * kBlockScores, kSide, false,
                                       {queries, std::min(kSide, keys - j * kSide), last_of(dim)});
      if (j > 0) fold_maxima(buffers.scores + (j - 1) * kBlockScores, keys - (j - 1) * kSide, j == 1, buffers.maxima);
    }

    const QueryMasks masks = buffers.dropout.masks(head, i, queries, kept_masks);
    float sums[kSide];
    for (std::int64_t r = 0; r < queries; ++r) {
      const float max = scale * hn::GetLane(hn::MaxOfLanes(F32(), hn::Load(F32(), buffers.maxima + r * kLanes)));
      sums[r] = softmax_row<T>(buffers.scores + r * kSide, keys, scale, max, masks.data + r, masks.step,
                               buffers.p.at(0, 0) + r * kSide);
      head.lse(i + r) = max * kLn2 + std::log(sums[r]);
    }

    // Rows of p beyond `queries` hold leftovers. So do these rows of the result, which nothing reads.
    panels::multiply_panels<Tiles>(1, dim_panels, key_panels, buffers.p, buffers.v, buffers.out.data, buffers.out.pitch,
                                   false, {queries, last_of(dim), last_of(keys)});
    for (std::int64_t r = 0; r < queries; ++r)
      store_rounded(buffers.out.row(r), dim, args.dropout.scale() / sums[r], head.row<T>(args.out, i + r, head.width));
  }
}

template <panels::TileUnit Tiles>
void panels_forward_all(const AttentionArgs& args) {
  const auto units = attention_units(args.sequences, args.heads, panels_unit_queries(args));
  const std::int64_t longest = longest_sequence(args.sequences);
  const KeptMasks masks(args);
  visit_16_bits(args.type, [&](auto value) {
    cpu::parallel_for(static_cast<std::int64_t>(units.size()), [&](std::int64_t i) {
      panels_forward_unit<Tiles, decltype(value)>(args, units[i], masks.of(units[i].sequence, units[i].head), longest);
    });
  });
}

}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
