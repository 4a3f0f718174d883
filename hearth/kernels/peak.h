#pragma once

#include "hearth/base/dtype.h"

namespace hearth::kernels {

// Operations a second that the matrix product of this format reaches on all threads, measured for a moment on a
// shape that training uses.
double measure_product_rate(DType type);

}  // namespace hearth::kernels
