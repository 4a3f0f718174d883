// Dropout's decisions as bit masks, for kernels that need the same elements of many rows; dropout.h defines them.

#if defined(HEARTH_KERNELS_DROPOUT_MASKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEARTH_KERNELS_DROPOUT_MASKS_INL_H_
#undef HEARTH_KERNELS_DROPOUT_MASKS_INL_H_
#else
#define HEARTH_KERNELS_DROPOUT_MASKS_INL_H_
#endif

#include "hearth/kernels/rows/dropout-inl.h"

#if HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {

// The masks of one block of 128 elements, for any row. In the first two rounds of Philox the row reaches only half of
// the words and the counter the other half; the parts of the first three rounds that do not depend on the row are
// computed once, in the constructor.
class DropoutMasks {
 public:
  DropoutMasks(const Dropout& dropout, std::uint32_t sample, std::uint32_t block)
      : threshold_(dropout.threshold()), sample_product_(std::uint64_t{kPhiloxMultiplier1} * sample) {
    for (std::uint32_t i = 0; i < kPhiloxRounds; ++i)
      keys_[i] = {dropout.key.lo + i * kPhiloxWeyl0, dropout.key.hi + i * kPhiloxWeyl1};
    const auto counters = hn::Add(hn::Iota(u32, 0u), hn::Set(u32, 16 * block));
    even_ = started(counters);
    odd_ = started(high(hn::BitCast(u64, counters)));
  }

  // Bit l of masks[i * step] is set where element 128 * block + 16 * i + l of the row is kept, i < 8.
  HWY_INLINE void of_row(std::uint32_t row, std::uint16_t* masks, std::int64_t step) const {
    const std::uint64_t product =
        std::uint64_t{kPhiloxMultiplier0} * (static_cast<std::uint32_t>(sample_product_ >> 32) ^ row ^ keys_[0].lo);
    Lanes even = joined(even_, product), odd = joined(odd_, product);
    for (int round = 3; round < kPhiloxRounds; ++round) {
      const U32 key_lo = hn::Set(u32, keys_[round].lo), key_hi = hn::Set(u32, keys_[round].hi);
      even.round(key_lo, key_hi);
      odd.round(key_lo, key_hi);
    }
    for (std::size_t w = 0; w < 4; ++w) {
      const auto odd_word = hn::BitCast(u32, hn::ShiftLeft<32>(hn::BitCast(u64, odd.word[w])));
      const U32 word = hn::OddEven(odd_word, even.word[w]);
      const __m512i threshold = _mm512_set1_epi32(static_cast<int>(threshold_));
      const U32 low_half = hn::And(word, hn::Set(u32, 0xffffu)), high_half = hn::ShiftRight<16>(word);
      masks[w * step] = _mm512_cmpge_epu32_mask(low_half.raw, threshold);
      masks[(w + 4) * step] = _mm512_cmpge_epu32_mask(high_half.raw, threshold);
    }
  }

 private:
  static constexpr BitsOf<F32> u32{};
  static constexpr hn::RepartitionToWide<BitsOf<F32>> u64{};
  using Lanes = PhiloxLanes<F32>;
  using U32 = Lanes::V;
  using U64 = hn::Vec<hn::RepartitionToWide<BitsOf<F32>>>;

  // Values that do not depend on the row, to be combined with it in the second and third round.
  struct Started {
    U32 word2_in_second, word0_in_third, word2_in_third, word3_after_third;
  };

  static HWY_INLINE U32 high(U64 product) { return hn::BitCast(u32, hn::ShiftRight<32>(product)); }
  static HWY_INLINE U32 low(U64 product) { return hn::BitCast(u32, product); }
  static HWY_INLINE U64 times(U32 even_lanes, std::uint32_t factor) {
    return hn::MulEven(even_lanes, hn::Set(u32, factor));
  }

  HWY_INLINE Started started(U32 counters) const {
    const U64 first = times(counters, kPhiloxMultiplier0);
    const U64 second = times(hn::Xor(high(first), hn::Set(u32, keys_[0].hi)), kPhiloxMultiplier1);
    const auto from_sample = static_cast<std::uint32_t>(sample_product_);
    const U64 third = times(hn::Xor(high(second), hn::Set(u32, from_sample ^ keys_[1].lo)), kPhiloxMultiplier0);
    return {hn::Xor(low(first), hn::Set(u32, keys_[1].hi)), hn::Xor(low(second), hn::Set(u32, keys_[2].lo)),
            hn::Xor(high(third), hn::Set(u32, keys_[2].hi)), low(third)};
  }

  // Philox's words after three rounds; `product` is the row's 64-bit product in the second round.
  static HWY_INLINE Lanes joined(const Started& started, std::uint64_t product) {
    const U32 row_high = hn::Set(u32, static_cast<std::uint32_t>(product >> 32));
    const U32 row_low = hn::Set(u32, static_cast<std::uint32_t>(product));
    const U64 third = times(hn::Xor(started.word2_in_second, row_high), kPhiloxMultiplier1);
    return {{hn::Xor(high(third), started.word0_in_third), low(third), hn::Xor(started.word2_in_third, row_low),
             started.word3_after_third}};
  }

  Started even_, odd_;  // lanes, as in PhiloxLanes
  std::uint32_t threshold_;
  std::uint64_t sample_product_;
  PhiloxKey keys_[kPhiloxRounds];
};

}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
