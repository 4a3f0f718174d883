#pragma once

#include "hearth/kernels/rows/activation.h"
#include "hearth/ops/context.h"

namespace hearth::ops {

// Element by element, computed in f32 and rounded once to the dtype of the inputs. Two inputs have one shape and dtype.
Var add(Context& ctx, const Var& a, const Var& b);
Var subtract(Context& ctx, const Var& a, const Var& b);
Var multiply(Context& ctx, const Var& a, const Var& b);
Var scale(Context& ctx, const Var& x, float factor);

// f(x). A linear layer computes its activation faster, while the matmul's tile is in cache: see ops/linear.h.
Var activation(Context& ctx, const Var& x, kernels::Activation kind);

}  // namespace hearth::ops
