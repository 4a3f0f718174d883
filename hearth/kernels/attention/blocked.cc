#include "hearth/kernels/attention/blocked.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/attention/blocked.cc"
#include "hearth/kernels/simd/simd.h"
// After simd.h.
#include <hwy/foreach_target.h>

#include "hearth/kernels/attention/backward-inl.h"
#include "hearth/kernels/attention/forward-inl.h"
#include "hearth/kernels/simd/visit.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {

void blocked_forward(const AttentionArgs& args) {
  visit_float(args.type, [&](auto value) {
    using T = decltype(value);
    forward_all<T>(args);
  });
}

void blocked_backward(const AttentionArgs& args, const AttentionGradArgs& grads) {
  visit_float(args.type, [&](auto value) {
    using T = decltype(value);
    backward_all<T>(args, grads);
  });
}

}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearth::kernels {

bool attention_blocked_accepts(const AttentionArgs&, cpu::Isa) { return true; }

void attention_blocked_forward(const AttentionArgs& args) { HEARTH_SIMD(blocked_forward)(args); }

void attention_blocked_backward(const AttentionArgs& args, const AttentionGradArgs& grads) {
  HEARTH_SIMD(blocked_backward)(args, grads);
}

}  // namespace hearth::kernels
#endif
