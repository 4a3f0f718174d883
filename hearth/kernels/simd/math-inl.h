// exp and tanh on vectors of f32.

#if defined(HEARTH_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEARTH_KERNELS_MATH_INL_H_
#undef HEARTH_KERNELS_MATH_INL_H_
#else
#define HEARTH_KERNELS_MATH_INL_H_
#endif

#include "hearth/kernels/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {

// c[0] + c[1] x + c[2] x^2 + ...
template <class D, std::size_t count, class V = hn::Vec<D>>
HWY_INLINE V polynomial(D d, V x, const float (&c)[count]) {
  V sum = hn::Set(d, c[count - 1]);
  for (std::size_t i = count - 1; i > 0; --i) sum = hn::MulAdd(sum, x, hn::Set(d, c[i - 1]));
  return sum;
}

// The same for many coefficients, as four polynomials in x^4: the chain of dependent operations is four times shorter.
template <class D, std::size_t count, class V = hn::Vec<D>>
HWY_INLINE V long_polynomial(D d, V x, const float (&c)[count]) {
  static_assert(count >= 8);
  const V x2 = hn::Mul(x, x), x4 = hn::Mul(x2, x2);
  V sums[4];
  for (std::size_t k = 0; k < 4; ++k) {
    const std::size_t last = (count - 1 - k) / 4 * 4 + k;
    sums[k] = hn::Set(d, c[last]);
    for (std::size_t i = last; i > k; i -= 4) sums[k] = hn::MulAdd(sums[k], x4, hn::Set(d, c[i - 4]));
  }
  return hn::MulAdd(hn::MulAdd(sums[3], x, sums[2]), x2, hn::MulAdd(sums[1], x, sums[0]));
}

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

// Within 1.1 ulp (1.5 where the result is subnormal); 0 and infinity where the result is beyond f32; NaN for NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_f32(D d, V v) {
  // x86's min and max return the second operand where one is a NaN.
  const V x = hn::Max(hn::Set(d, -105.0f), hn::Min(hn::Set(d, 89.0f), v));
  const V n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504089f)));
  const V r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x));
  constexpr float kCoefficients[] = {5.00000009519e-1f, 1.66665188396e-1f, 4.16662058003e-2f, 8.36888936446e-3f,
                                     1.39504910816e-3f};
  const V p = hn::MulAdd(polynomial(d, r, kCoefficients), hn::Mul(r, r), r);
  return times_power_of_two(d, hn::Add(p, hn::Set(d, 1.0f)), n);
}

// Within 2 ulp.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V tanh_f32(D d, V v) {
  const V s = hn::Mul(v, v);
  constexpr float kCoefficients[] = {-3.33333145124e-1f, 1.33324713585e-1f, -5.38392468206e-2f, 2.10142787579e-2f,
                                     -6.18863999355e-3f};
  const V near_zero = hn::MulAdd(hn::Mul(polynomial(d, s, kCoefficients), s), v, v);

  const V one = hn::Set(d, 1.0f), two = hn::Set(d, 2.0f);
  const V a = hn::Abs(v);
  const V far = hn::CopySign(hn::Sub(one, hn::Div(two, hn::Add(exp_f32(d, hn::Add(a, a)), one))), v);
  return hn::IfThenElse(hn::Lt(a, hn::Set(d, 0.5625f)), near_zero, far);
}

}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
