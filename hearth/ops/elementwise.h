#pragma once

#include "hearth/base/api.h"
#include "hearth/kernels/rows/activation.h"
#include "hearth/ops/context.h"

namespace hearth::ops {

// Element by element, computed in f32 and rounded once to the dtype of the inputs. Two inputs have one shape and dtype.
HEARTH_API Var add(Context& ctx, const Var& a, const Var& b);
HEARTH_API Var subtract(Context& ctx, const Var& a, const Var& b);
HEARTH_API Var multiply(Context& ctx, const Var& a, const Var& b);
HEARTH_API Var scale(Context& ctx, const Var& x, float factor);

// f(x). A linear layer computes its activation faster, while the matmul's tile is in cache: see ops/linear.h.
HEARTH_API Var activation(Context& ctx, const Var& x, kernels::Activation kind);

}  // namespace hearth::ops
