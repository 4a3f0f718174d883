#include "hearth/ops/finite_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hearth/kernels/rows/elementwise.h"

namespace hearth::ops {
namespace {

bool is_finite(const Tensor& values) { return kernels::all_finite(values.type(), values.size(), values.raw()); }

// The first of the values that is not finite, in words.
std::string_view kind_of(const Tensor& values) {
  const Tensor wide(values.shape(), DType::f32);
  kernels::convert(values.type(), values.raw(), DType::f32, wide.raw(), values.size());
  const float* const numbers = wide.data<float>();
  const float* const first = std::find_if(numbers, numbers + wide.size(), [](float x) { return !std::isfinite(x); });
  return std::isnan(*first) ? "NaN" : "an infinity";
}

// "bert.encoder.layer.0.output.dense" of "bert.encoder.layer.0.output.dense.weight"
std::string layer_of(const Parameter& parameter) {
  const std::string& name = parameter.parts.front().name;
  return name.substr(0, name.rfind('.'));
}

// The weight that is itself to blame for an output; empty: none is.
std::string bad_weight(const std::vector<Parameter*>& parameters) {
  for (const Parameter* parameter : parameters) {
    if (parameter == nullptr || is_finite(parameter->master)) continue;
    for (const Parameter::Part& part : parameter->parts)
      if (const Tensor values = parameter->master_part(part); !is_finite(values))
        return fmt::format("{} in the weight {}", kind_of(values), part.name);
  }
  return "";
}

}  // namespace

std::string FiniteCheck::place_of(const Op& op) const {
  return fmt::format("{}{}{}", op.name, op.parameters.empty() ? " after " : " ", layer_);
}

void FiniteCheck::look_at(const Op& op, const Tensor& output) {
  if (!op.parameters.empty()) layer_ = layer_of(*op.parameters.front());
  if (!found_.empty() || is_finite(output)) return;
  found_ = bad_weight(op.parameters);
  if (found_.empty()) found_ = fmt::format("{} in the output of {}", kind_of(output), place_of(op));
}

void FiniteCheck::look_at_gradients(const std::vector<GradientEdge>& inputs, const std::vector<Parameter*>& parameters,
                                    const std::string& place) {
  const auto look = [&](const Tensor& gradient) {
    if (found_.empty() && gradient.defined() && !is_finite(gradient))
      found_ = fmt::format("{} in the gradients of {}", kind_of(gradient), place);
  };
  if (scope_ == Scope::values || !found_.empty()) return;
  for (const GradientEdge& input : inputs)
    if (input.defined()) look(input.grad());
  for (const Parameter* parameter : parameters)
    if (parameter != nullptr && parameter->trainable) look(parameter->grad);
}

}  // namespace hearth::ops
