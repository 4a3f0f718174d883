#pragma once

#include "hearth/kernels/gemm.h"

namespace hearth::kernels {

// Products on AMX's tiles: bf16 as it is; fp16 as the exact sum of two bf16 numbers, four products in all.
bool amx_accepts(DType type, cpu::Isa isa);
void amx_gemm(const GemmArgs& args);

// The same packing and loops with the tiles' arithmetic in plain C++: for tests on processors without AMX (it needs
// AVX512-BF16).
void amx_gemm_emulated(const GemmArgs& args);

}  // namespace hearth::kernels
