#pragma once

#include <cstdint>

#include "hearth/tensor/tensor.h"

namespace hearth::ops {

// A matrix as an operand of a matmul: itself, or its transpose.
struct Operand {
  const Tensor& stored;
  bool transposed = false;

  std::int64_t rows() const { return stored.shape()[transposed ? 1 : 0]; }
  std::int64_t cols() const { return stored.shape()[transposed ? 0 : 1]; }
  Operand transpose() const { return {stored, !transposed}; }
};

// out = [out +] left right; nothing is recorded.
void multiply_into(const Operand& left, const Operand& right, const Tensor& out, bool accumulate);

}  // namespace hearth::ops
