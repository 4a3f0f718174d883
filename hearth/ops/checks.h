#pragma once

#include <string_view>

#include "hearth/autograd/tape.h"
#include "hearth/base/api.h"

// Checks of what ops are given. An Error names the op, and the shapes that do not fit.
namespace hearth::ops {

HEARTH_API void check_dropout_rate(float p);                                 // 0 <= p < 1
HEARTH_API void check_floats(std::string_view op, const Tensor& x);          // fp32, bf16 or fp16
HEARTH_API void check_matrix(std::string_view op, const Parameter& weight);  // two dimensions
HEARTH_API void check_same(std::string_view op, const Tensor& a,
                           const Tensor& b);  // shape and dtype, which is one of floats
// The parameter, if it is not null, is a vector with one number per column of `columns` columns.
HEARTH_API void check_vector(std::string_view op, const Parameter* vector, std::int64_t columns);

}  // namespace hearth::ops
