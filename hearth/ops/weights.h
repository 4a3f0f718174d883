#pragma once

#include "hearth/autograd/parameter.h"
#include "hearth/kernels/gemm.h"

namespace hearth::ops {

// Sets the right operand of a matmul of dtype `product.type` to W, or to W^T if `transposed`. For f32 that is the
// master itself; otherwise a copy in that dtype, packed if the GEMM implementation reads packed weights. A copy is
// rebuilt when the master has changed, and lives as long as the parameter.
void set_weights(kernels::GemmArgs& product, Parameter& weights, bool transposed);

}  // namespace hearth::ops
