#pragma once

#include "hearth/kernels/gemm/gemm.h"

namespace hearth::kernels {

// bf16 and fp16 on processors without a fast matmul for them: operands are widened to f32 tile by tile (exact), then
// multiplied in f32.
bool widen_accepts(DType type, cpu::Isa isa);
void widen_gemm(std::span<const GemmArgs> matmuls);

}  // namespace hearth::kernels
