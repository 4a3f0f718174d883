// Dropout's factors, 128 elements of a row at a time; dropout.h defines them.

#if defined(HEARTH_KERNELS_DROPOUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEARTH_KERNELS_DROPOUT_INL_H_
#undef HEARTH_KERNELS_DROPOUT_INL_H_
#else
#define HEARTH_KERNELS_DROPOUT_INL_H_
#endif

#include <algorithm>

#include "hearth/kernels/rows/dropout.h"
#include "hearth/kernels/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {

// Philox on the even 32-bit lanes; the odd lanes hold leftovers of the 64-bit multiplications.
template <class D>
struct PhiloxLanes {
  using Bits = BitsOf<D>;
  using Wide = hn::RepartitionToWide<Bits>;
  using V = hn::Vec<Bits>;
  V word[4];

  HWY_INLINE void round(V key_lo, V key_hi) {
    const Bits du;
    const auto product0 = hn::MulEven(word[0], hn::Set(du, kPhiloxMultiplier0));
    const auto product1 = hn::MulEven(word[2], hn::Set(du, kPhiloxMultiplier1));
    word[0] = hn::Xor3(hn::BitCast(du, hn::ShiftRight<32>(product1)), word[1], key_lo);
    word[1] = hn::BitCast(du, product1);
    word[2] = hn::Xor3(hn::BitCast(du, hn::ShiftRight<32>(product0)), word[3], key_hi);
    word[3] = hn::BitCast(du, product0);
  }
};

// factors[i] = 0 or `scale` for element 128 * block + i of the row, i < 128.
template <class D>
HWY_INLINE void dropout_block(D d, PhiloxKey key, std::uint32_t sample, std::uint32_t row, std::uint32_t block,
                              std::uint32_t threshold, float scale, float* factors) {
  using Philox = PhiloxLanes<D>;
  const typename Philox::Bits du;
  const typename Philox::Wide dw;
  const hn::RebindToSigned<D> di;
  const auto one_below_threshold = hn::Set(di, static_cast<std::int32_t>(threshold) - 1);
  const auto kept = hn::Set(d, scale);
  const auto step = static_cast<std::uint32_t>(hn::Lanes(d));

  for (std::uint32_t first = 0; first < 16; first += step) {
    const auto counters = hn::Add(hn::Iota(du, 0u), hn::Set(du, 16 * block + first));
    const auto zero = hn::Zero(du);
    Philox even{{counters, hn::Set(du, row), hn::Set(du, sample), zero}};
    Philox odd{
        {hn::BitCast(du, hn::ShiftRight<32>(hn::BitCast(dw, counters))), hn::Set(du, row), hn::Set(du, sample), zero}};
    auto key_lo = hn::Set(du, key.lo), key_hi = hn::Set(du, key.hi);
    for (int round = 0; round < kPhiloxRounds; ++round) {
      even.round(key_lo, key_hi);
      odd.round(key_lo, key_hi);
      key_lo = hn::Add(key_lo, hn::Set(du, kPhiloxWeyl0));
      key_hi = hn::Add(key_hi, hn::Set(du, kPhiloxWeyl1));
    }
    for (std::size_t w = 0; w < 4; ++w) {
      const auto odd_word = hn::BitCast(du, hn::ShiftLeft<32>(hn::BitCast(dw, odd.word[w])));
      const auto word = hn::OddEven(odd_word, even.word[w]);
      const auto low = hn::BitCast(di, hn::And(word, hn::Set(du, 0xffffu)));
      const auto high = hn::BitCast(di, hn::ShiftRight<16>(word));
      const auto keeps_low = hn::RebindMask(d, hn::Gt(low, one_below_threshold));
      const auto keeps_high = hn::RebindMask(d, hn::Gt(high, one_below_threshold));
      hn::StoreU(hn::IfThenElseZero(keeps_low, kept), d, factors + 16 * w + first);
      hn::StoreU(hn::IfThenElseZero(keeps_high, kept), d, factors + 64 + 16 * w + first);
    }
  }
}

// body(i, lanes, factor) for the vectors of a row of `cols` elements: for_vectors with dropout's factors.
template <class D, class Body>
HWY_INLINE void for_dropout_vectors(D d, const Dropout& dropout, std::uint32_t sample, std::uint32_t row,
                                    std::int64_t cols, const Body& body) {
  HWY_ALIGN float factors[kDropoutBlock];
  const std::uint32_t threshold = dropout.threshold();
  const float scale = dropout.scale();
  for (std::int64_t first = 0; first < cols; first += kDropoutBlock) {
    dropout_block(d, dropout.key, sample, row, static_cast<std::uint32_t>(first / kDropoutBlock), threshold, scale,
                  factors);
    for_vectors(d, std::min(kDropoutBlock, cols - first),
                [&](std::int64_t i, auto lanes) HWY_ATTR { body(first + i, lanes, hn::Load(d, factors + i)); });
  }
}

}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
