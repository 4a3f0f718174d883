#include "hearth/optim/moments.h"

#include <algorithm>

#include "hearth/base/check.h"

namespace hearth::optim {

std::vector<Range> ranges(const ParameterStore& parameters, bool by_decay, std::span<const Interval> own) {
  std::vector<Range> alike;
  for (const Parameter* parameter : parameters.in_arena_order()) {
    const bool decay = by_decay && decays(*parameter);
    const std::int64_t end = parameter->offset + parameter->shape.size();
    if (!alike.empty() && alike.back().decays == decay) {
      alike.back().end = end;
    } else {
      alike.push_back({parameter->offset, end, decay});
    }
  }
  std::vector<Range> result;
  std::int64_t moments = 0;  // of the intervals before
  for (const Interval& interval : own) {
    for (const Range& range : alike) {
      const std::int64_t begin = std::max(range.begin, interval.begin), end = std::min(range.end, interval.end);
      if (begin < end) result.push_back({begin, end, range.decays, moments + begin - interval.begin});
    }
    moments += interval.size();
  }
  return result;
}

Tensor zero_moments(std::span<const Interval> own, DType type) {
  std::int64_t size = 0;
  for (const Interval& interval : own) size += interval.size();
  return Tensor::zeros({size}, type);
}

Optimizer::State named_views(const ParameterStore& parameters, const Tensor& arena, std::string_view prefix) {
  check(arena.size() == parameters.size(), "[named_views] {} elements, the parameters have {}", arena.size(),
        parameters.size());
  Optimizer::State views;
  for (const Parameter* parameter : parameters.trainable())
    for (const Parameter::Part& part : parameter->parts) {
      const std::int64_t begin = parameter->offset + part.offset;
      views.emplace_back(fmt::format("{}.{}", prefix, part.name),
                         arena.slice(begin, begin + part.shape.size()).reshape(part.shape));
    }
  return views;
}

}  // namespace hearth::optim
