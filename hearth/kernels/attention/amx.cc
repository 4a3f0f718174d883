#include "hearth/kernels/attention/amx.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/attention/amx.cc"
#include "hearth/kernels/simd/simd.h"
// After simd.h.
#include <hwy/foreach_target.h>

#include "hearth/kernels/attention/amx_backward-inl.h"
#include "hearth/kernels/attention/amx_forward-inl.h"

#if HWY_ONCE
namespace hearth::kernels {

bool attention_amx_accepts(const AttentionArgs& args, cpu::Isa isa) {
  return (args.type == DType::bf16 || args.type == DType::f16) && isa == cpu::Isa::amx;
}

void attention_amx_forward(const AttentionArgs& args) { N_AVX3::amx_forward_all<amx::Tiles>(args); }

void attention_amx_backward(const AttentionArgs& args, const AttentionGradArgs& grads) {
  N_AVX3::amx_backward_all<amx::Tiles>(args, grads);
}

std::int64_t attention_amx_mask_bytes(const AttentionArgs& args) { return KeptMasks::bytes(args); }

}  // namespace hearth::kernels
#endif
