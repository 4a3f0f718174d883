#pragma once

#include "hearth/kernels/gemm.h"

namespace hearth::kernels {

// The plain product, one sum after the other in double: the oracle of the fast ones.
void reference_gemm(const GemmArgs& args);

}  // namespace hearth::kernels
