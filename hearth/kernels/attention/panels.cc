#include "hearth/kernels/attention/panels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/attention/panels.cc"
#include "hearth/kernels/simd/simd.h"
// After simd.h.
#include <hwy/foreach_target.h>

#include "hearth/kernels/attention/panels_backward-inl.h"
#include "hearth/kernels/attention/panels_forward-inl.h"
#include "hearth/kernels/gemm/panel_gemm.h"
#include "hearth/kernels/simd/amx_tiles.h"
#include "hearth/kernels/simd/vector_tiles.h"

#if HWY_ONCE
namespace hearth::kernels {

bool attention_amx_accepts(const AttentionArgs& args, cpu::Isa isa) { return amx_accepts(args.type, isa); }

void attention_amx_forward(const AttentionArgs& args) { N_AVX3::panels_forward_all<panels::AmxTiles>(args); }

void attention_amx_backward(const AttentionArgs& args, const AttentionGradArgs& grads) {
  N_AVX3::panels_backward_all<panels::AmxTiles>(args, grads);
}

bool attention_avx512_bf16_accepts(const AttentionArgs& args, cpu::Isa isa) {
  return avx512_bf16_accepts(args.type, isa);
}

void attention_avx512_bf16_forward(const AttentionArgs& args) { N_AVX3::panels_forward_all<panels::VectorTiles>(args); }

void attention_avx512_bf16_backward(const AttentionArgs& args, const AttentionGradArgs& grads) {
  N_AVX3::panels_backward_all<panels::VectorTiles>(args, grads);
}

std::int64_t attention_amx_mask_bytes(const AttentionArgs& args) { return KeptMasks::bytes(args); }

}  // namespace hearth::kernels
#endif
