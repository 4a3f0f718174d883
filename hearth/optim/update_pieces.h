#pragma once

#include <functional>
#include <span>

#include "hearth/optim/moments.h"
#include "hearth/optim/used_rows.h"

namespace hearth::optim {

// Runs update(piece) over all `ranges` in pieces, on all threads. Rows of embeddings that are not used are left out,
// unless the embedding has 16-bit copies; `used_rows` may be null: all are used. For every parameter that lies entirely
// inside one range, also rebuilds the 16-bit copies (WeightCopy) read since the last step, piece by piece while the
// updated weights are in cache. Call after mark_updated().
void update_pieces(ParameterStore& parameters, std::span<const Range> ranges, const UsedRows* used_rows,
                   const std::function<void(const Range&)>& update);

}  // namespace hearth::optim
