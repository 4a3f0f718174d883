#pragma once

#include "hearth/kernels/gemm.h"

namespace hearth::kernels {

// bf16 and fp16 where the processor has no fast product for them: operands widened to f32 tile by tile (exact), then
// the f32 product.
bool widen_accepts(DType type, cpu::Isa isa);
void widen_gemm(const GemmArgs& args);

}  // namespace hearth::kernels
