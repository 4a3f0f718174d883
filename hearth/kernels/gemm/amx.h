#pragma once

#include "hearth/kernels/gemm/gemm.h"

namespace hearth::kernels {

// Matmul on AMX tiles: bf16 directly; fp16 as the exact sum of two bf16 numbers, so four bf16 matmuls.
bool amx_accepts(DType type, cpu::Isa isa);
void amx_gemm(const GemmArgs& args);

std::int64_t amx_packed_bytes(DType type, std::int64_t k, std::int64_t n);
void amx_pack(const PackArgs& args);

}  // namespace hearth::kernels
