#include "hearth/nn/layers.h"

#include "hearth/base/check.h"

namespace hearth::nn {

Linear::Linear(const ParameterScope& at, std::int64_t inputs, std::int64_t outputs, const LinearOptions& options)
    : weight_(&at.parameter("weight", {outputs, inputs}, Init::normal(options.init_range))),
      bias_(options.bias ? &at.parameter("bias", {outputs}, Init::zeros()) : nullptr) {}

Embedding::Embedding(const ParameterScope& at, std::int64_t rows, std::int64_t size, std::int32_t padding_id,
                     float init_range)
    : weight_(&at.parameter("weight", {rows, size}, Init::normal(init_range, padding_id))), padding_id_(padding_id) {
  check(padding_id < rows, "[Embedding] the padding id {} is not among {} rows", padding_id, rows);
  weight_->is_embedding = true;
}

Dropout::Dropout(const ParameterScope& at, float p) : p_(p), site_(at.dropout_site()) { ops::check_dropout_rate(p); }

LayerNorm::LayerNorm(const ParameterScope& at, std::int64_t size, float eps)
    : gamma_(&at.parameter("weight", {size}, Init::ones(), true)),
      beta_(&at.parameter("bias", {size}, Init::zeros(), true)),
      eps_(eps) {}

}  // namespace hearth::nn
