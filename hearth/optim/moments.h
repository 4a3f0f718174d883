#pragma once

#include <string_view>

#include "hearth/optim/optimizer.h"

namespace hearth::optim {

// A range of the arenas whose elements all get the same update.
struct Range {
  std::int64_t begin = 0, end = 0;
  bool decays = false;
  std::int64_t moments = 0;  // index of its first moment; moments exist for owned elements only, without gaps
};
// The ranges of the owned intervals, in arena order; neighbours with the same weight decay are joined.
std::vector<Range> ranges(const ParameterStore& parameters, bool by_decay, std::span<const Interval> own);

Tensor zero_moments(std::span<const Interval> own, DType type);

// Views of an arena laid out like the parameters': one per parameter name, called PREFIX.NAME.
Optimizer::State named_views(const ParameterStore& parameters, const Tensor& arena, std::string_view prefix);

}  // namespace hearth::optim
