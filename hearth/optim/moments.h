#pragma once

#include <string_view>

#include "hearth/optim/optimizer.h"

namespace hearth::optim {

// Stretches of the arenas that are updated alike.
struct Range {
  std::int64_t begin = 0, end = 0;
  bool decays = false;
  std::int64_t moments = 0;  // where its moments begin, which are kept for what is owned alone, without gaps
};
// Of what is owned, in arena order, neighbours of one kind joined. Without weight decay all parameters are of one kind.
std::vector<Range> ranges(const ParameterStore& parameters, bool by_decay, std::span<const Interval> own);

Tensor zero_moments(std::span<const Interval> own);

// Views of an arena laid out like the parameters', one a parameter name, called PREFIX.NAME.
Optimizer::State named_views(const ParameterStore& parameters, const Tensor& arena, std::string_view prefix);

}  // namespace hearth::optim
