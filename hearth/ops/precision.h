#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "hearth/base/dtype.h"

namespace hearth::ops {

// Which kind of value is kept in which format. `compute` is fp32, bf16 or fp16, as the user named it.
enum class Value {
  activation,       // outputs of embeddings, linear layers, attention, layer norm, GELU, dropout; their gradients
  product_operand,  // what matrix products read: activations and the weights' copies
  product_sum,      // what products, softmax, normalisation and column sums add up in
  statistic,        // softmax's log-sum, layer norm's mean and deviation
  logit,            // a head's outputs and their gradients
  loss,
  weight,  // master weights, biases, embeddings' tables
  weight_gradient,
  moment,  // of the optimizer
};

struct PrecisionRow {
  Value value;
  std::string_view name;
  bool in_compute_format;  // else in f32
};

inline constexpr std::array<PrecisionRow, 9> kPrecision{{
    {Value::activation, "activations and their gradients", true},
    {Value::product_operand, "operands of matrix products", true},
    {Value::product_sum, "sums of products, softmax, layer norm, bias gradients", false},
    {Value::statistic, "statistics of softmax and layer norm", false},
    {Value::logit, "logits and their gradients", false},
    {Value::loss, "loss", false},
    {Value::weight, "master weights, biases, embedding tables", false},
    {Value::weight_gradient, "gradients of weights", false},
    {Value::moment, "optimizer moments", false},
}};

constexpr DType format_of(Value value, DType compute) {
  return kPrecision[static_cast<std::size_t>(value)].in_compute_format ? compute : DType::f32;
}

// Where this processor has no fast arithmetic of the format: a sentence that says so, and what to use instead.
std::optional<std::string> emulation_warning(DType compute);

}  // namespace hearth::ops
