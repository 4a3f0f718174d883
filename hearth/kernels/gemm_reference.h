#pragma once

#include "hearth/kernels/gemm.h"

namespace hearth::kernels {

// The plain product, one sum after the other in double: the oracle of the fast ones.
void reference_tile(const GemmTile& tile);

}  // namespace hearth::kernels
