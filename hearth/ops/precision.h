#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "hearth/base/api.h"
#include "hearth/base/dtype.h"

namespace hearth::ops {

// The dtype of each kind of value. `compute` is fp32, bf16 or fp16, as the user chose.
enum class Value {
  activation,      // outputs of embeddings, linear layers, attention, layer norm, GELU, dropout; their gradients
  matmul_operand,  // inputs of matmuls: activations and the 16-bit copies of weights
  matmul_sum,      // accumulators of matmuls, softmax, normalisation and column sums
  statistic,       // log-sum-exp of softmax, mean and deviation of layer norm
  logit,           // outputs of a head and their gradients
  loss,
  weight,  // master weights, biases, embeddings
  weight_gradient,
  moment,  // of the optimizer
};

struct PrecisionRow {
  Value value;
  std::string_view name;
  bool in_compute_dtype;  // otherwise in f32
};

inline constexpr std::array<PrecisionRow, 9> kPrecision{{
    {Value::activation, "activations and their gradients", true},
    {Value::matmul_operand, "operands of matmuls", true},
    {Value::matmul_sum, "accumulators of matmuls, softmax, layer norm, bias gradients", false},
    {Value::statistic, "statistics of softmax and layer norm", false},
    {Value::logit, "logits and their gradients", false},
    {Value::loss, "loss", false},
    {Value::weight, "master weights, biases, embeddings", false},
    {Value::weight_gradient, "gradients of weights", false},
    {Value::moment, "optimizer moments", false},
}};

constexpr DType value_dtype(Value value, DType compute) {
  return kPrecision[static_cast<std::size_t>(value)].in_compute_dtype ? compute : DType::f32;
}

// If this processor has no fast arithmetic for the dtype: a sentence that says so, and what to use instead.
HEARTH_API std::optional<std::string> emulation_warning(DType compute);

}  // namespace hearth::ops
