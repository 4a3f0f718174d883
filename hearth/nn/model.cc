#include "hearth/nn/model.h"

#include <algorithm>

#include "hearth/base/check.h"

namespace hearth::nn {

const Tensor& ModelOutput::logits_named(std::string_view name) const {
  const auto found = std::ranges::find(logits, name, &std::pair<std::string, Var>::first);
  check(found != logits.end(), "[ModelOutput] the model's head has no {}", name);
  return found->second.value();
}

}  // namespace hearth::nn
