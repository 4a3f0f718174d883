#pragma once

#include "hearth/autograd/parameter.h"
#include "hearth/kernels/gemm.h"

namespace hearth::ops {

// Makes the weights the right operand of a product of `product.type`: W^T where they are `transposed`, else W. They are
// the master itself for f32, else a copy in the format, and packed where the product wants that; a copy is made again
// when the master has changed, and lives as long as the parameter.
void set_weights(kernels::GemmArgs& product, Parameter& weights, bool transposed);

}  // namespace hearth::ops
