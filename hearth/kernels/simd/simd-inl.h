// f32, bf16 and fp16 arrays as vectors of f32: loads widen; stores round to nearest, ties to even, and keep a NaN.

#if defined(HEARTH_KERNELS_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEARTH_KERNELS_SIMD_INL_H_
#undef HEARTH_KERNELS_SIMD_INL_H_
#else
#define HEARTH_KERNELS_SIMD_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hearth/base/dtype.h"
#include "hearth/kernels/simd/simd.h"
#include "hearth/kernels/simd/visit.h"
// After simd.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;

template <class D>
using BitsOf = hn::RebindToUnsigned<D>;
template <class D>
using HalfBitsOf = hn::Rebind<std::uint16_t, D>;
template <class D>
using HalvesOf = hn::Rebind<hwy::float16_t, D>;

template <class D>
HWY_INLINE hn::Vec<D> widen_bf16(D d, hn::Vec<HalfBitsOf<D>> bits) {
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(BitsOf<D>(), bits)));
}

template <class D>
HWY_INLINE hn::Vec<HalfBitsOf<D>> round_to_bf16(D, hn::Vec<D> v) {
  const BitsOf<D> du;
  const auto bits = hn::BitCast(du, v);
  const auto top = hn::ShiftRight<16>(bits);
  const auto odd = hn::And(top, hn::Set(du, 1u));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fffu))));
  const auto quiet_nan = hn::Or(top, hn::Set(du, 0x40u));
  const auto is_nan = hn::RebindMask(du, hn::IsNaN(v));
  return hn::TruncateTo(HalfBitsOf<D>(), hn::IfThenElse(is_nan, quiet_nan, rounded));
}

template <class D>
HWY_INLINE hn::Vec<D> widen_f16(D d, hn::Vec<HalfBitsOf<D>> bits) {
  return hn::PromoteTo(d, hn::BitCast(HalvesOf<D>(), bits));
}

template <class D>
HWY_INLINE hn::Vec<HalfBitsOf<D>> round_to_f16(D, hn::Vec<D> v) {
  return hn::BitCast(HalfBitsOf<D>(), hn::DemoteTo(HalvesOf<D>(), v));
}

// BFloat16 that is rounded by the processor's own instruction (AVX512-BF16): one step instead of nine, with the same
// result except that subnormal numbers become zero. visit_stored chooses it.
struct NativeBFloat16 : BFloat16 {};

// visit_float for kernels that store what they compute.
template <class Visitor>
void visit_stored(DType type, const Visitor& visitor) {
#if HWY_TARGET == HWY_AVX3
  if (type == DType::bf16 && cpu::isa() >= cpu::Isa::avx512_bf16) return visitor(NativeBFloat16());
#endif
  visit_float(type, visitor);
}

#if HWY_TARGET == HWY_AVX3
// Inline assembly, because Highway's AVX-512 target does not include AVX512-BF16.
HWY_INLINE hn::Vec<HalfBitsOf<F32>> round_to_native_bf16(hn::Vec<F32> v) {
  hn::Vec<HalfBitsOf<F32>> rounded;
  asm("vcvtneps2bf16 %1, %0" : "=v"(rounded.raw) : "v"(v.raw));
  return rounded;
}
#endif

inline const std::uint16_t* bits_of(const BFloat16* p) { return &p->bits; }
inline const std::uint16_t* bits_of(const Float16* p) { return &p->bits; }
inline std::uint16_t* bits_of(BFloat16* p) { return &p->bits; }
inline std::uint16_t* bits_of(Float16* p) { return &p->bits; }

// Masked loads and stores do not touch the elements they leave out; AVX2 has none for 16 bits.
template <class D>
HWY_INLINE hn::Vec<HalfBitsOf<D>> load_half_bits_n(D, const std::uint16_t* p, std::size_t n) {
  const HalfBitsOf<D> dh;
#if HWY_TARGET <= HWY_AVX3
  return hn::MaskedLoad(hn::FirstN(dh, n), dh, p);
#else
  HWY_ALIGN std::uint16_t buffer[hn::MaxLanes(D())] = {};
  for (std::size_t i = 0; i < n; ++i) buffer[i] = p[i];
  return hn::Load(dh, buffer);
#endif
}

template <class D>
HWY_INLINE void store_half_bits_n(D, hn::Vec<HalfBitsOf<D>> bits, std::uint16_t* p, std::size_t n) {
  const HalfBitsOf<D> dh;
#if HWY_TARGET <= HWY_AVX3
  hn::BlendedStore(bits, hn::FirstN(dh, n), dh, p);
#else
  HWY_ALIGN std::uint16_t buffer[hn::MaxLanes(D())];
  hn::Store(bits, dh, buffer);
  for (std::size_t i = 0; i < n; ++i) p[i] = buffer[i];
#endif
}

template <class D>
HWY_INLINE hn::Vec<D> load_as_f32(D d, const float* p) {
  return hn::LoadU(d, p);
}
// The numbers that bits of the pointer's dtype stand for.
template <class D>
HWY_INLINE hn::Vec<D> widened_bits(D d, hn::Vec<HalfBitsOf<D>> bits, const BFloat16*) {
  return widen_bf16(d, bits);
}
template <class D>
HWY_INLINE hn::Vec<D> widened_bits(D d, hn::Vec<HalfBitsOf<D>> bits, const Float16*) {
  return widen_f16(d, bits);
}
template <class D, class T>
HWY_INLINE hn::Vec<D> load_as_f32(D d, const T* p) {
  return widened_bits(d, hn::LoadU(HalfBitsOf<D>(), bits_of(p)), p);
}

// The bits of v in the dtype of the pointer.
template <class D>
HWY_INLINE hn::Vec<HalfBitsOf<D>> rounded_bits(D d, hn::Vec<D> v, const BFloat16*) {
  return round_to_bf16(d, v);
}
#if HWY_TARGET == HWY_AVX3
HWY_INLINE hn::Vec<HalfBitsOf<F32>> rounded_bits(F32, hn::Vec<F32> v, const NativeBFloat16*) {
  return round_to_native_bf16(v);
}
#endif
template <class D>
HWY_INLINE hn::Vec<HalfBitsOf<D>> rounded_bits(D d, hn::Vec<D> v, const Float16*) {
  return round_to_f16(d, v);
}

template <class D>
HWY_INLINE void store_from_f32(D d, hn::Vec<D> v, float* p) {
  hn::StoreU(v, d, p);
}
template <class D, class T>
HWY_INLINE void store_from_f32(D d, hn::Vec<D> v, T* p) {
  hn::StoreU(rounded_bits(d, v, p), HalfBitsOf<D>(), bits_of(p));
}

// v as an array of the pointer's dtype stores it.
template <class D>
HWY_INLINE hn::Vec<D> as_stored(D, hn::Vec<D> v, const float*) {
  return v;
}
template <class D, class T>
HWY_INLINE hn::Vec<D> as_stored(D d, hn::Vec<D> v, const T* p) {
  return widened_bits(d, rounded_bits(d, v, p), p);
}

// The first n elements (n <= lanes), zero in the other lanes; memory beyond them is not touched.
template <class D>
HWY_INLINE hn::Vec<D> load_n(D d, const float* p, std::size_t n) {
  return hn::MaskedLoad(hn::FirstN(d, n), d, p);
}
template <class D, class T>
HWY_INLINE hn::Vec<D> load_n(D d, const T* p, std::size_t n) {
  return widened_bits(d, load_half_bits_n(d, bits_of(p), n), p);
}

template <class D>
HWY_INLINE void store_n(D d, hn::Vec<D> v, float* p, std::size_t n) {
  hn::BlendedStore(v, hn::FirstN(d, n), d, p);
}
template <class D, class T>
HWY_INLINE void store_n(D d, hn::Vec<D> v, T* p, std::size_t n) {
  store_half_bits_n(d, rounded_bits(d, v, p), bits_of(p), n);
}

// The argument of for_vectors' body: loads and stores the current vector.
struct AllLanes {
  template <class D, class T>
  HWY_INLINE hn::Vec<D> load(D d, const T* p) const {
    return load_as_f32(d, p);
  }
  template <class D, class T>
  HWY_INLINE void store(D d, hn::Vec<D> v, T* p) const {
    store_from_f32(d, v, p);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> or_else(D, hn::Vec<D> v, float) const {
    return v;
  }
};

struct FirstLanes {
  std::size_t n;

  template <class D, class T>
  HWY_INLINE hn::Vec<D> load(D d, const T* p) const {
    return load_n(d, p, n);
  }
  template <class D, class T>
  HWY_INLINE void store(D d, hn::Vec<D> v, T* p) const {
    store_n(d, v, p, n);
  }
  // v with `value` in the lanes beyond the first n.
  template <class D>
  HWY_INLINE hn::Vec<D> or_else(D d, hn::Vec<D> v, float value) const {
    return hn::IfThenElse(hn::FirstN(d, n), v, hn::Set(d, value));
  }
};

// body(i, lanes) for the vectors that begin at element i of n; `lanes` is FirstLanes for the last one if it is short.
template <class D, class Body>
HWY_INLINE void for_vectors(D d, std::int64_t n, const Body& body) {
  const auto step = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + step <= n; i += step) body(i, AllLanes{});
  if (i < n) body(i, FirstLanes{static_cast<std::size_t>(n - i)});
}

// The sum over all vectors of body(i, lanes), in four parallel sums; lanes beyond the end must be 0.
template <class D, class Body>
HWY_INLINE float sum_vectors(D d, std::int64_t n, const Body& body) {
  const auto step = static_cast<std::int64_t>(hn::Lanes(d));
  auto sum0 = hn::Zero(d), sum1 = hn::Zero(d), sum2 = hn::Zero(d), sum3 = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + 4 * step <= n; i += 4 * step) {
    sum0 = hn::Add(sum0, body(i, AllLanes{}));
    sum1 = hn::Add(sum1, body(i + step, AllLanes{}));
    sum2 = hn::Add(sum2, body(i + 2 * step, AllLanes{}));
    sum3 = hn::Add(sum3, body(i + 3 * step, AllLanes{}));
  }
  for (; i + step <= n; i += step) sum0 = hn::Add(sum0, body(i, AllLanes{}));
  if (i < n) sum1 = hn::Add(sum1, body(i, FirstLanes{static_cast<std::size_t>(n - i)}));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))));
}

}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
