#pragma once

#include <cstdint>
#include <span>

#include "hearth/base/api.h"
#include "hearth/ops/context.h"

namespace hearth::ops {

// Parts of matrices, f32, bf16 or fp16, and matrices put together from parts.
HEARTH_API Var slice_rows(Context& ctx, const Var& x, std::int64_t begin, std::int64_t end);  // rows [begin, end)
HEARTH_API Var first_columns(Context& ctx, const Var& x, std::int64_t count);                 // (M, N) -> (M, count)
HEARTH_API Var concat_rows(Context& ctx, std::span<const Var> parts);                         // one below the other
HEARTH_API Var concat_columns(Context& ctx, std::span<const Var> parts);                      // one beside the other

}  // namespace hearth::ops
