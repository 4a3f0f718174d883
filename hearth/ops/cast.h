#pragma once

#include "hearth/ops/context.h"

namespace hearth::ops {

// x in another dtype: fp32, bf16 or fp16. Losses take logits in fp32.
Var cast(Context& ctx, const Var& x, DType type);

// The same of a Tensor: x itself if it has the dtype.
Tensor in_dtype(Tensor x, DType type);

}  // namespace hearth::ops
