#pragma once

#include <functional>

#include "hearth/base/api.h"
#include "hearth/ops/context.h"

namespace hearth::ops {

// Gradient checkpointing: computes body(x), keeps only x, and computes body(x) again during backward. `body` must give
// the same bits both times, which holds because dropout is a function of (seed, step, site, sample, element).
HEARTH_API Var checkpointed(Context& ctx, const Var& x, std::function<Var(Context&, const Var&)> body);
// The same for a body that reads nothing but the batch and parameters.
HEARTH_API Var checkpointed(Context& ctx, const std::function<Var(Context&)>& body);

}  // namespace hearth::ops
