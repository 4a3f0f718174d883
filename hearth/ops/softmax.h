#pragma once

#include "hearth/ops/context.h"

namespace hearth::ops {

// softmax over the last axis, and its logarithm; computed in f32.
Var softmax(Context& ctx, const Var& x);
Var log_softmax(Context& ctx, const Var& x);

}  // namespace hearth::ops
