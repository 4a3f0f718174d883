#pragma once

#include "hearth/kernels/gemm.h"

namespace hearth::kernels {

// Products on AMX's tiles: bf16 as it is; fp16 as the exact sum of two bf16 numbers, four products in all.
bool amx_accepts(DType type, cpu::Isa isa);
void amx_gemm(const GemmArgs& args);

std::int64_t amx_packed_bytes(DType type, std::int64_t k, std::int64_t n);
void amx_pack(const PackArgs& args);

}  // namespace hearth::kernels
