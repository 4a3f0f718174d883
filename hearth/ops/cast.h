#pragma once

#include "hearth/base/api.h"
#include "hearth/ops/context.h"

namespace hearth::ops {

// x in another dtype: fp32, bf16 or fp16. Losses take logits in fp32.
HEARTH_API Var cast(Context& ctx, const Var& x, DType type);

// The same of a Tensor: x itself if it has the dtype.
HEARTH_API Tensor in_dtype(Tensor x, DType type);

}  // namespace hearth::ops
