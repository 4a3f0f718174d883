#pragma once

#include "hearth/base/api.h"
#include "hearth/ops/context.h"

namespace hearth::ops {

// x (T, H), or (S, H) with one row per sequence, with elements zeroed at rate p and the others scaled by 1 / (1 - p),
// in training only.
HEARTH_API Var dropout(Context& ctx, const Var& x, float p, std::uint32_t site);

}  // namespace hearth::ops
