// Activations on vectors of f32: value(d, x) and the derivative slope(d, x).

#if defined(HEARTH_KERNELS_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEARTH_KERNELS_ACTIVATION_INL_H_
#undef HEARTH_KERNELS_ACTIVATION_INL_H_
#else
#define HEARTH_KERNELS_ACTIVATION_INL_H_
#endif

#include <cstddef>
#include <iterator>

#include "hearth/base/check.h"
#include "hearth/kernels/rows/activation.h"
#include "hearth/kernels/rows/gelu_table.h"
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

#if HWY_TARGET == HWY_AVX3
// GELU from a table, half as many instructions as with polynomials that hold for all x.
class Gelu {
 public:
  Gelu() {
    const GeluTable& table = gelu_table();
    for (std::size_t k = 0; k < std::size(cdf_below_); ++k) cdf_below_[k] = Row(table.cdf_below[k]);
    for (std::size_t k = 0; k < std::size(rise_); ++k) rise_[k] = Row(table.rise[k]);
  }

  HWY_INLINE hn::Vec<F32> value(F32 d, hn::Vec<F32> x) const {
    const Place place(x);
    return hn::NegMulAdd(place.a, polynomial(cdf_below_, place), hn::Max(hn::Zero(d), x));
  }
  HWY_INLINE hn::Vec<F32> slope(F32 d, hn::Vec<F32> x) const {
    return hn::Add(hn::Set(d, 0.5f), hn::CopySignToAbs(polynomial(rise_, Place(x)), x));
  }

 private:
  // a = |x|, limited to the table, and where it lies in which interval.
  struct Place {
    hn::Vec<F32> a, f;
    __m512i interval;  // its lowest five bits count

    HWY_INLINE explicit Place(hn::Vec<F32> x) {
      const F32 d;
      // Numbers of this size are whole, and the number is in their lowest bits.
      const auto whole = hn::Set(d, 0x1.8p23f), scale = hn::Set(d, GeluTable::kIntervalsPerUnit);
      a = hn::Min(hn::Set(d, GeluTable::kLastCentre), hn::Abs(x));  // in this order x86 keeps a NaN
      const auto rounded = hn::MulAdd(a, scale, whole);
      f = hn::MulSub(a, scale, hn::Sub(rounded, whole));
      interval = _mm512_castps_si512(rounded.raw);
    }
  };
  // One coefficient of all intervals.
  struct Row {
    __m512 low, high;
    Row() = default;
    HWY_INLINE explicit Row(const GeluTable::Coefficients& row)
        : low(_mm512_load_ps(row.data())), high(_mm512_load_ps(row.data() + 16)) {}
    HWY_INLINE hn::Vec<F32> of(const Place& place) const {
      return hn::Vec<F32>{_mm512_permutex2var_ps(low, place.interval, high)};
    }
  };

  template <std::size_t count>
  HWY_INLINE static hn::Vec<F32> polynomial(const Row (&rows)[count], const Place& place) {
    auto sum = rows[count - 1].of(place);
    for (std::size_t k = count - 1; k > 0; --k) sum = hn::MulAdd(sum, place.f, rows[k - 1].of(place));
    return sum;
  }

  Row cdf_below_[4], rise_[5];
};
#else
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
    return hn::Mul(hn::Max(hn::Set(d, -kCdfLimit), x), fitted(d, x, kCdfLimit, kCdf));  // -inf * 0 would be NaN
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V slope(D d, V x) const {
    return fitted(d, x, kSlopeLimit, kSlope);
  }
};
#endif

// x (1 + tanh(u)) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3), and (1 + tanh(u)) / 2 = sigmoid(2 u).
struct GeluTanh {
  static constexpr float kScale = 1.59576912161f;  // 2 sqrt(2 / pi)
  static constexpr float kCubic = 0.044715f * kScale;
  static constexpr float kLimit = 100;  // beyond it the gate is 0 or 1; an infinity times 0 would be NaN

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
    return hn::Mul(hn::Max(hn::Set(d, -kLimit), x), gate(d, x).value);
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V slope(D d, V at) const {
    const V x = hn::Min(hn::Set(d, kLimit), hn::Max(hn::Set(d, -kLimit), at));
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
