// The arithmetic of AdamW, whatever the dtype of its moments.

#if defined(HEARTH_KERNELS_ADAMW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEARTH_KERNELS_ADAMW_INL_H_
#undef HEARTH_KERNELS_ADAMW_INL_H_
#else
#define HEARTH_KERNELS_ADAMW_INL_H_
#endif

#include <cmath>

#include "hearth/kernels/update/optimizer-inl.h"
#include "hearth/kernels/update/optimizer.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {

// A weight and its two moments.
struct AdamWState {
  hn::Vec<F32> p, m, v;
};

class AdamWUpdate {
 public:
  HWY_INLINE explicit AdamWUpdate(const AdamWStep& step)
      : scale_(set_f32(step.grad_scale)),
        decay_(set_f32(1 - step.lr * step.weight_decay)),
        rate1_(set_f32(1 - step.beta1)),
        beta2_(set_f32(step.beta2)),
        rate2_(set_f32(1 - step.beta2)),
        root_correction2_(set_f32(std::sqrt(1 - std::pow(step.beta2, static_cast<double>(step.step))))),
        eps_(set_f32(step.eps)),
        step_size_(set_f32(step.lr * step.update_scale / (1 - std::pow(step.beta1, static_cast<double>(step.step))))) {}

  HWY_INLINE AdamWState operator()(const AdamWState& before, hn::Vec<F32> unscaled_gradient) const {
    const auto gradient = hn::Mul(unscaled_gradient, scale_);
    const auto m = without_subnormals(hn::MulAdd(hn::Sub(gradient, before.m), rate1_, before.m));
    const auto v = hn::MulAdd(hn::Mul(rate2_, gradient), gradient, hn::Mul(before.v, beta2_));
    const auto denominator = hn::Add(hn::Div(hn::Sqrt(v), root_correction2_), eps_);
    const auto decayed = hn::Mul(before.p, decay_);
    return {hn::Sub(decayed, hn::Div(hn::Mul(step_size_, m), denominator)), m, v};
  }

 private:
  hn::Vec<F32> scale_, decay_, rate1_, beta2_, rate2_, root_correction2_, eps_, step_size_;
};

}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
