#pragma once

#include "hearth/kernels/gemm/gemm.h"

namespace hearth::kernels {

// Matmul on AMX tiles: bf16 directly; an fp16 number is the exact sum of two bf16 numbers, so one fp16 matmul is three
// of bf16 (the product of the two small parts is below fp16's rounding and is left out).
bool amx_accepts(DType type, cpu::Isa isa);
void amx_gemm(std::span<const GemmArgs> matmuls);

std::int64_t amx_packed_bytes(DType type, std::int64_t k, std::int64_t n);
void amx_pack(const PackArgs& args);

}  // namespace hearth::kernels
