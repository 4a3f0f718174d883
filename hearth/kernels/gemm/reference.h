#pragma once

#include "hearth/kernels/gemm/gemm.h"

namespace hearth::kernels {

// The plain matmul, one sum after the other in double: what the fast ones are tested against.
void reference_gemm(std::span<const GemmArgs> matmuls);

}  // namespace hearth::kernels
