#include "hearth/optim/moments.h"

#include <ranges>

namespace hearth::optim {

std::vector<Range> ranges(const ParameterStore& parameters, bool by_decay) {
  std::vector<Range> result;
  for (const auto& parameter : parameters.parameters() | std::views::reverse) {
    const bool decay = by_decay && decays(*parameter);
    const std::int64_t end = parameter->offset + parameter->shape.size();
    if (!result.empty() && result.back().decays == decay) {
      result.back().end = end;
    } else {
      result.push_back({parameter->offset, end, decay});
    }
  }
  return result;
}

Optimizer::State named_views(const ParameterStore& parameters, const Tensor& arena, std::string_view prefix) {
  Optimizer::State views;
  for (const auto& parameter : parameters.parameters())
    for (const Parameter::Part& part : parameter->parts) {
      const std::int64_t begin = parameter->offset + part.offset;
      views.emplace_back(fmt::format("{}.{}", prefix, part.name),
                         arena.slice(begin, begin + part.shape.size()).reshape(part.shape));
    }
  return views;
}

}  // namespace hearth::optim
