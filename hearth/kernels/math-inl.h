// exp, tanh and the normal distribution on vectors of f32.

#if defined(HEARTH_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEARTH_KERNELS_MATH_INL_H_
#undef HEARTH_KERNELS_MATH_INL_H_
#else
#define HEARTH_KERNELS_MATH_INL_H_
#endif

#include "hearth/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {

// x * 2^n for |n| <= 252, rounded once.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V times_power_of_two(D d, V x, V n) {
#if HWY_TARGET <= HWY_AVX3
  (void)d;
  return V{_mm512_scalef_ps(x.raw, n.raw)};
#else
  // In two factors, because 2^n alone may be neither finite nor normal.
  const hn::RebindToSigned<D> di;
  const auto power = hn::NearestInt(n);
  const auto half = hn::ShiftRight<1>(power);
  const auto bias = hn::Set(di, 127);
  const auto first = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(half, bias)));
  const auto second = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::Sub(power, half), bias)));
  return hn::Mul(hn::Mul(x, first), second);
#endif
}

// Within 1 ulp (1.5 where the result is subnormal); 0 and infinity where the result is beyond f32; NaN for NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_f32(D d, V v) {
  // x86's min and max return the second operand where one is a NaN.
  const V x = hn::Max(hn::Set(d, -105.0f), hn::Min(hn::Set(d, 89.0f), v));
  const V n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504089f)));
  const V r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x));
  V p = hn::Set(d, 1.39504910816e-3f);
  p = hn::MulAdd(p, r, hn::Set(d, 8.36888936446e-3f));
  p = hn::MulAdd(p, r, hn::Set(d, 4.16662058003e-2f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.66665188396e-1f));
  p = hn::MulAdd(p, r, hn::Set(d, 5.00000009519e-1f));
  p = hn::Add(hn::MulAdd(p, hn::Mul(r, r), r), hn::Set(d, 1.0f));
  return times_power_of_two(d, p, n);
}

// 1 / (1 + exp(-v))
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid_f32(D d, V v) {
  const V one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, exp_f32(d, hn::Neg(v))));
}

// Within 2 ulp.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V tanh_f32(D d, V v) {
  const V s = hn::Mul(v, v);
  V p = hn::Set(d, -6.18863999355e-3f);
  p = hn::MulAdd(p, s, hn::Set(d, 2.10142787579e-2f));
  p = hn::MulAdd(p, s, hn::Set(d, -5.38392468206e-2f));
  p = hn::MulAdd(p, s, hn::Set(d, 1.33324713585e-1f));
  p = hn::MulAdd(p, s, hn::Set(d, -3.33333145124e-1f));
  const V near_zero = hn::MulAdd(hn::Mul(p, s), v, v);

  const V one = hn::Set(d, 1.0f), two = hn::Set(d, 2.0f);
  const V a = hn::Abs(v);
  const V far = hn::CopySign(hn::Sub(one, hn::Div(two, hn::Add(exp_f32(d, hn::Add(a, a)), one))), v);
  return hn::IfThenElse(hn::Lt(a, hn::Set(d, 0.5625f)), near_zero, far);
}

template <class V>
struct Normal {
  V cdf, density;
};

// Of the standard normal distribution: cdf(x) = (1 + erf(x / sqrt(2))) / 2 within 1e-7, in the lower tail within
// some 1e-6 of its own size, and density(x) = exp(-x^2 / 2) / sqrt(2 pi).
// The tail below -a is exp(-a^2 / 2) times a polynomial in t = 1 / (1 + 0.35 a), fitted for 0 <= a <= 14.
template <class D, class V = hn::Vec<D>>
HWY_INLINE Normal<V> normal_f32(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V e = exp_f32(d, hn::Mul(hn::Mul(x, x), hn::Set(d, -0.5f)));
  const V t = hn::Div(one, hn::MulAdd(hn::Abs(x), hn::Set(d, 0.35f), one));
  V p = hn::Set(d, -0.02914591225f);
  p = hn::MulAdd(p, t, hn::Set(d, 0.1439716132f));
  p = hn::MulAdd(p, t, hn::Set(d, -0.2557140864f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.1591739768f));
  p = hn::MulAdd(p, t, hn::Set(d, -0.02310971474f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.1055079557f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.1198328792f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.1398618682f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.1396214044f));
  const V tail = hn::Mul(hn::Mul(p, t), e);
  return {hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(one, tail)), hn::Mul(e, hn::Set(d, 0.398942280401f))};
}

}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
