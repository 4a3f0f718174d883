#pragma once

#include "hearth/ops/context.h"

namespace hearth::ops {

// The first token of each sequence: (T, H) -> (S, H).
Var first_tokens(Context& ctx, const Var& x);

}  // namespace hearth::ops
