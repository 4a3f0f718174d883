#pragma once

#include "hearth/base/api.h"
#include "hearth/ops/context.h"

namespace hearth::ops {

// One number, f32: the sum or the mean of all elements. An own loss ends in one of them.
HEARTH_API Var sum(Context& ctx, const Var& x);
HEARTH_API Var mean(Context& ctx, const Var& x);

}  // namespace hearth::ops
