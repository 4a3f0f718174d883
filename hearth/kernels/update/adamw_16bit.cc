// AdamW with moments in bf16, which are rounded at random: a number between two numbers of bf16 becomes the upper one
// with the probability that corresponds to its place between the two. On average rounding then changes nothing, and
// changes that are smaller than the distance of two numbers of bf16 add up over the steps. Rounding to nearest would
// lose them: with beta2 = 0.999 the second moment would never decay.
//
// The random bits of an element are a hash of the step and of the element's index in the arena, so that they do not
// depend on threads, pieces or ranks. Elements 2^32 apart have the same bits.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/update/adamw_16bit.cc"
#include "hearth/kernels/simd/simd.h"
// After simd.h.
#include <hwy/foreach_target.h>

#include "hearth/cpu/parallel.h"
#include "hearth/kernels/simd/chunks.h"
#include "hearth/kernels/update/adamw-inl.h"
#include "hearth/kernels/update/optimizer.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {
namespace {

using Bits = hn::Vec<BitsOf<F32>>;

// A permutation of the numbers of 32 bits ("lowbias32" of Chris Wellons' hash-prospector).
HWY_INLINE Bits hashed(Bits x) {
  const BitsOf<F32> du;
  x = hn::Mul(hn::Xor(x, hn::ShiftRight<16>(x)), hn::Set(du, 0x7feb352du));
  x = hn::Mul(hn::Xor(x, hn::ShiftRight<15>(x)), hn::Set(du, 0x846ca68bu));
  return hn::Xor(x, hn::ShiftRight<16>(x));
}

// Adds `random`, 16 bits, below the last place of bf16, so that dropping the lower half rounds. Infinity and the NaNs
// that arithmetic makes, which have their top bit set, stay what they are, and finite numbers stay finite.
HWY_INLINE hn::Vec<F32> with_random_bits(hn::Vec<F32> value, Bits random) {
  const F32 d;
  const BitsOf<F32> du;
  const auto magnitude = hn::BitCast(du, hn::Abs(value));
  const auto largest = hn::Max(magnitude, hn::Set(du, 0x7f7fffffu));  // the largest finite f32, or not finite
  return hn::CopySign(hn::BitCast(d, hn::Min(hn::Add(magnitude, random), largest)), value);
}

// A bf16 number whose stores drop the lower half of an f32.
struct CutBFloat16 : BFloat16 {};

HWY_INLINE hn::Vec<HalfBitsOf<F32>> upper_half(hn::Vec<F32> v) {
  return hn::TruncateTo(HalfBitsOf<F32>(), hn::ShiftRight<16>(hn::BitCast(BitsOf<F32>(), v)));
}
HWY_INLINE void store_from_f32(F32, hn::Vec<F32> v, CutBFloat16* p) {
  hn::StoreU(upper_half(v), HalfBitsOf<F32>(), bits_of(p));
}
HWY_INLINE void store_n(F32 d, hn::Vec<F32> v, CutBFloat16* p, std::size_t n) {
  store_half_bits_n(d, upper_half(v), bits_of(p), n);
}

void adamw_16bit_range(const AdamWStep& step, std::int64_t first, std::int64_t n, float* p, const float* g,
                       void* m_array, void* v_array) {
  const F32 d;
  const BitsOf<F32> du;
  auto* const m = static_cast<CutBFloat16*>(m_array);
  auto* const v = static_cast<CutBFloat16*>(v_array);
  const AdamWUpdate updated(step);
  const auto place_of_step = hn::GetLane(hashed(hn::Set(du, static_cast<std::uint32_t>(step.step))));
  const auto places = hn::Iota(du, place_of_step + static_cast<std::uint32_t>(first));
  const auto lower_half = hn::Set(du, 0xffffu);
  for_vectors(d, n, [&](std::int64_t i, auto lanes) HWY_ATTR {
    prefetch_update(i, p, g, m, v);
    const AdamWState now =
        updated({lanes.load(d, p + i), lanes.load(d, m + i), lanes.load(d, v + i)}, lanes.load(d, g + i));
    const auto random = hashed(hn::Add(places, hn::Set(du, static_cast<std::uint32_t>(i))));
    lanes.store(d, with_random_bits(now.m, hn::And(random, lower_half)), m + i);
    lanes.store(d, with_random_bits(now.v, hn::ShiftRight<16>(random)), v + i);
    lanes.store(d, now.p, p + i);
  });
}

}  // namespace
}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearth::kernels {

void adamw_16bit(const AdamWStep& step, std::int64_t first, std::int64_t n, float* p, const float* g, BFloat16* m,
                 BFloat16* v) {
  const auto run = HEARTH_SIMD(adamw_16bit_range);
  cpu::parallel_chunks(n, kFlatChunk, [&](std::int64_t begin, std::int64_t end) {
    run(step, first + begin, end - begin, p + begin, g + begin, m + begin, v + begin);
  });
}

}  // namespace hearth::kernels
#endif
