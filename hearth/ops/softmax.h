#pragma once

#include "hearth/base/api.h"
#include "hearth/ops/context.h"

namespace hearth::ops {

// softmax over the last axis, and its logarithm; computed in f32.
HEARTH_API Var softmax(Context& ctx, const Var& x);
HEARTH_API Var log_softmax(Context& ctx, const Var& x);

}  // namespace hearth::ops
