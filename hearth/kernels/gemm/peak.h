#pragma once

#include "hearth/base/dtype.h"

namespace hearth::kernels {

// FLOP/s that the matmul of this dtype reaches on all threads, measured briefly on a shape that training uses.
double measure_matmul_rate(DType type);

}  // namespace hearth::kernels
