#pragma once

#include "hearth/base/api.h"
#include "hearth/ops/context.h"

namespace hearth::ops {

// Multi-head attention over the context's sequences. qkv (T, 3 H): queries, keys, values side by side. Out (T, H).
HEARTH_API Var attention(Context& ctx, const Var& qkv, std::int64_t heads, float dropout_p, std::uint32_t site);

}  // namespace hearth::ops
