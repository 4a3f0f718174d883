// Differentiable operations. Each takes the Context of its forward pass.
#pragma once

#include "hearth/ops/attention.h"
#include "hearth/ops/autocast.h"
#include "hearth/ops/cast.h"
#include "hearth/ops/context.h"
#include "hearth/ops/dropout.h"
#include "hearth/ops/elementwise.h"
#include "hearth/ops/embedding.h"
#include "hearth/ops/grad.h"
#include "hearth/ops/gradient_checkpointing.h"
#include "hearth/ops/layer_norm.h"
#include "hearth/ops/linear.h"
#include "hearth/ops/loss.h"
#include "hearth/ops/matmul.h"
#include "hearth/ops/reductions.h"
#include "hearth/ops/rows.h"
#include "hearth/ops/softmax.h"

namespace hearth {

using kernels::Activation;
using ops::Autocast, ops::Context;

}  // namespace hearth
