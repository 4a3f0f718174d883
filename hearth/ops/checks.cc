#include "hearth/ops/checks.h"

#include "hearth/base/check.h"

namespace hearth::ops {

void check_dropout_rate(float p) { check(p >= 0 && p < 1, "[dropout] the rate {} does not lie in [0, 1)", p); }

void check_floats(std::string_view op, const Tensor& x) {
  check(x.type() == DType::f32 || x.type() == DType::bf16 || x.type() == DType::f16,
        "[{}] the input {} has dtype {}; use fp32, bf16 or fp16", op, x.shape().to_string(), name_of(x.type()));
}

void check_matrix(std::string_view op, const Parameter& weight) {
  check(weight.shape.rank() == 2, "[{}] {} {} is not a matrix", op, weight.parts.front().name,
        weight.shape.to_string());
}

void check_same(std::string_view op, const Tensor& a, const Tensor& b) {
  check_floats(op, a);
  check(a.shape() == b.shape() && a.type() == b.type(),
        "[{}] {} {} and {} {} do not fit: shape and dtype must be the same", op, name_of(a.type()),
        a.shape().to_string(), name_of(b.type()), b.shape().to_string());
}

void check_vector(std::string_view op, const Parameter* vector, std::int64_t columns) {
  if (vector == nullptr) return;
  check(vector->shape == Shape{columns}, "[{}] {} {} does not fit rows of {} elements", op, vector->parts.front().name,
        vector->shape.to_string(), columns);
}

}  // namespace hearth::ops
