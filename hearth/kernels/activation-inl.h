// The activations on vectors of f32: value(d, x) and its derivative slope(d, x).

#if defined(HEARTH_KERNELS_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEARTH_KERNELS_ACTIVATION_INL_H_
#undef HEARTH_KERNELS_ACTIVATION_INL_H_
#else
#define HEARTH_KERNELS_ACTIVATION_INL_H_
#endif

#include "hearth/base/error.h"
#include "hearth/kernels/activation.h"
#include "hearth/kernels/math-inl.h"

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

struct Gelu {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V value(D d, V x) const {
    return hn::Mul(x, normal_f32(d, x).cdf);
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V slope(D d, V x) const {
    const auto normal = normal_f32(d, x);
    return hn::MulAdd(x, normal.density, normal.cdf);
  }
};

// x (1 + tanh(u)) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3), and (1 + tanh(u)) / 2 = sigmoid(2 u).
struct GeluTanh {
  static constexpr float kScale = 1.59576912161f;  // 2 sqrt(2 / pi)
  static constexpr float kCubic = 0.044715f * kScale;

  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V gate(D d, V x) const {
    const V s = hn::Mul(x, x);
    return sigmoid_f32(d, hn::Mul(x, hn::MulAdd(s, hn::Set(d, kCubic), hn::Set(d, kScale))));
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V value(D d, V x) const {
    return hn::Mul(x, gate(d, x));
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V slope(D d, V x) const {
    const V g = gate(d, x);
    const V s = hn::Mul(x, x);
    const V inner = hn::Mul(x, hn::MulAdd(s, hn::Set(d, 3 * kCubic), hn::Set(d, kScale)));
    return hn::MulAdd(inner, hn::Mul(g, hn::Sub(hn::Set(d, 1.0f), g)), g);
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
