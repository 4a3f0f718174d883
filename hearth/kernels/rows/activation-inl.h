// Activations on vectors of f32: value(d, x) and the derivative slope(d, x).

#if defined(HEARTH_KERNELS_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEARTH_KERNELS_ACTIVATION_INL_H_
#undef HEARTH_KERNELS_ACTIVATION_INL_H_
#else
#define HEARTH_KERNELS_ACTIVATION_INL_H_
#endif

#include "hearth/base/check.h"
#include "hearth/kernels/rows/activation.h"
#include "hearth/kernels/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {

struct Identity {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V value(D, V x) const {
    return x;
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V slope(D d, V) const {
    return hn::Set(d, 1.0f);
  }
};

// GELU: x cdf(x), and its derivative cdf(x) + x density(x), of the normal distribution. cdf(x) and the derivative are
// both 1/2 + x times an even function. That function is a polynomial in u = 2 x^2 / limit^2 - 1, fitted for x between
// -limit and limit; the error is within 2e-7 (cdf) and 3e-7 (derivative). Beyond the limits both differ from 0 and 1 by
// less. The fitting script is not kept; tests/kernels/activation_test.cc checks the error.
struct Gelu {
  static constexpr float kCdfLimit = 5.4f, kSlopeLimit = 5.8f;
  static constexpr float kCdf[] = {0.1309281126f,    -0.06532805725f,  0.04849959717f,  -0.03920672908f,
                                   0.03211645755f,   -0.02574728677f,  0.01964629901f,  -0.0139598748f,
                                   0.009646812431f,  -0.006722183236f, 0.003667157062f, -0.001179969955f,
                                   0.0008674717878f, -0.001030673014f, 0.0003954581049f};
  static constexpr float kSlope[] = {
      0.1219987751f,  -0.06165747207f, 0.04863592172f,   -0.04619696569f,  0.05016132844f,  -0.05771679059f,
      0.06507969539f, -0.0696679173f,  0.06979864793f,   -0.06034500134f,  0.04364277452f,  -0.03645976635f,
      0.03508984296f, -0.0179976885f,  0.0002798684356f, -0.002844326116f, 0.007358806726f, -0.002952822666f};

  template <class D, std::size_t count, class V = hn::Vec<D>>
  HWY_INLINE V fitted(D d, V x, float limit, const float (&coefficients)[count]) const {
    const V inside = hn::Min(hn::Set(d, limit), hn::Max(hn::Set(d, -limit), x));  // in this order x86 keeps a NaN
    const V u = hn::MulAdd(hn::Mul(inside, inside), hn::Set(d, 2 / (limit * limit)), hn::Set(d, -1.0f));
    const V y = hn::MulAdd(inside, long_polynomial(d, u, coefficients), hn::Set(d, 0.5f));
    return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -limit)), y);
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V value(D d, V x) const {
    return hn::Mul(x, fitted(d, x, kCdfLimit, kCdf));
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V slope(D d, V x) const {
    return fitted(d, x, kSlopeLimit, kSlope);
  }
};

// x (1 + tanh(u)) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3), and (1 + tanh(u)) / 2 = sigmoid(2 u).
struct GeluTanh {
  static constexpr float kScale = 1.59576912161f;  // 2 sqrt(2 / pi)
  static constexpr float kCubic = 0.044715f * kScale;

  template <class V>
  struct Gate {
    V value, slope;
  };

  // sigmoid(v) and its derivative, from exp(-|v|) so that nothing cancels.
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE Gate<V> gate(D d, V x) const {
    const V v = hn::Mul(x, hn::MulAdd(hn::Mul(x, x), hn::Set(d, kCubic), hn::Set(d, kScale)));
    const V one = hn::Set(d, 1.0f);
    const V e = exp_f32(d, hn::Neg(hn::Abs(v)));
    const V above_half = hn::Div(one, hn::Add(one, e));
    const V below_half = hn::Mul(e, above_half);
    return {hn::IfThenElse(hn::Lt(v, hn::Zero(d)), below_half, above_half), hn::Mul(below_half, above_half)};
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V value(D d, V x) const {
    return hn::Mul(x, gate(d, x).value);
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V slope(D d, V x) const {
    const auto g = gate(d, x);
    const V inner = hn::Mul(x, hn::MulAdd(hn::Mul(x, x), hn::Set(d, 3 * kCubic), hn::Set(d, kScale)));
    return hn::MulAdd(inner, g.slope, g.value);
  }
};

struct Relu {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V value(D d, V x) const {
    return hn::Max(hn::Zero(d), x);  // in this order x86 keeps a NaN
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V slope(D d, V x) const {
    return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), hn::Set(d, 1.0f));
  }
};

struct Tanh {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V value(D d, V x) const {
    return tanh_f32(d, x);
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V slope(D d, V x) const {
    const V y = tanh_f32(d, x);
    return hn::NegMulAdd(y, y, hn::Set(d, 1.0f));
  }
};

template <class Visitor>
void visit_activation(Activation kind, const Visitor& visitor) {
  switch (kind) {
    case Activation::none:
      return visitor(Identity());
    case Activation::gelu:
      return visitor(Gelu());
    case Activation::gelu_tanh:
      return visitor(GeluTanh());
    case Activation::relu:
      return visitor(Relu());
    case Activation::tanh:
      return visitor(Tanh());
  }
  fail("[activation] unknown activation {}", static_cast<int>(kind));
}

}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
