#pragma once

#include <cstdint>
#include <functional>

#include "hearth/base/api.h"
#include "hearth/ops/context.h"

namespace hearth::ops {

// Runs `body` over parts of the batch of the pass, of `sequences` sequences each, and puts its results (rows, columns)
// together in order. A part keeps nothing for backward but its result: backward runs it again. So a batch needs the
// memory of one part, and the gradients are those of the whole batch: dropout depends on the sample, not on the part.
// Without a tape, or where the batch has no more sequences than that, body runs once over the whole batch. It must not
// refer to anything that ends before backward.
HEARTH_API Var in_chunks(Context& ctx, std::int64_t sequences, const std::function<Var(Context&)>& body);

}  // namespace hearth::ops
