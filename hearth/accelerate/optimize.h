#pragma once

#include "hearth/base/api.h"
#include "hearth/nn/model.h"
#include "hearth/optim/optimizer.h"

namespace hearth {

// ipex.optimize: prepares a model for matmuls in `dtype`. The weights are packed into the layout that the matmuls of
// this processor read, in `dtype`, beside their f32 masters. With an optimizer, whose step() refreshes the copies in
// the same pass over the weights, the layouts of the backward pass are packed as well. Without this call the first step
// does all of it.
HEARTH_API void optimize(nn::Model& model, DType dtype);
HEARTH_API void optimize(nn::Model& model, optim::Optimizer& optimizer, DType dtype);

}  // namespace hearth
