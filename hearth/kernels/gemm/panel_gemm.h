#pragma once

#include "hearth/kernels/gemm/gemm.h"

namespace hearth::kernels {

// Matmuls on packed panels (panel_product-inl.h) on AMX: bf16 directly; an fp16 number is the exact sum of two bf16
// numbers, so one fp16 matmul is three of bf16 (the product of the two small parts is below fp16's rounding and is left
// out).
bool amx_accepts(DType type, cpu::Isa isa);
void amx_gemm(std::span<const GemmArgs> matmuls);

// The same on AVX512-BF16, for bf16 on AMD. On Intel without AMX, bf16 is faster when widened to f32. Weights are not
// packed once per step but in each matmul, which is as fast with a few cores and takes half of the memory.
bool avx512_bf16_accepts(DType type, cpu::Isa isa);
void avx512_bf16_gemm(std::span<const GemmArgs> matmuls);

// Packing weights once per step.
std::int64_t panel_bytes(DType type, std::int64_t k, std::int64_t n);
void pack_panels(const PackArgs& args);

}  // namespace hearth::kernels
