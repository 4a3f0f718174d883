#pragma once

#include "hearth/ops/context.h"

namespace hearth::ops {

// One number, f32: the sum or the mean of all elements. An own loss ends in one of them.
Var sum(Context& ctx, const Var& x);
Var mean(Context& ctx, const Var& x);

}  // namespace hearth::ops
