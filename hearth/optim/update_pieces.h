#pragma once

#include <functional>
#include <span>

#include "hearth/optim/moments.h"

namespace hearth::optim {

// Runs update(range) over the ranges, piece by piece on all threads. Of parameters that lie in a range as a whole, the
// replicas that were read since the last update are brought up to date, each piece while it is in cache; the parameters
// are already marked as changed.
void update_pieces(ParameterStore& parameters, std::span<const Range> ranges,
                   const std::function<void(const Range&)>& update);

}  // namespace hearth::optim
