#pragma once

#include "hearth/kernels/gemm/gemm.h"
#include "hearth/ops/context.h"

namespace hearth::ops {

// Sets the right operand of a matmul of dtype `matmul.type` to W, or to W^T if `transposed`, in the layout that the
// GEMM implementation reads. `ctx` is given in a forward pass, whose tape notes the use.
void set_weights(kernels::GemmArgs& matmul, Parameter& weights, bool transposed, const Context* ctx = nullptr);

}  // namespace hearth::ops
