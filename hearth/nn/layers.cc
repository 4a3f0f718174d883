#include "hearth/nn/layers.h"

namespace hearth::nn {

Linear::Linear(const ParameterScope& at, std::int64_t inputs, std::int64_t outputs, float init_range)
    : weight_(&at.parameter("weight", {outputs, inputs}, Init::normal(init_range))),
      bias_(&at.parameter("bias", {outputs}, Init::zeros())) {}

LayerNorm::LayerNorm(const ParameterScope& at, std::int64_t size, float eps)
    : gamma_(&at.parameter("weight", {size}, Init::ones(), true)),
      beta_(&at.parameter("bias", {size}, Init::zeros(), true)),
      eps_(eps) {}

}  // namespace hearth::nn
