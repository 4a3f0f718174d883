#pragma once

#include <span>

#include "hearth/autograd/tape.h"

namespace hearth::ops {

// Where a gradient goes: a new buffer to overwrite, or one that holds a contribution already and is added to.
struct GradTarget {
  Tensor tensor;
  bool accumulate = false;
};

GradTarget grad_target(const Var& x);          // of the value's shape and format
GradTarget grad_target(Parameter& parameter);  // the parameter's slice of the gradient arena
Tensor grad_target(Parameter& table, std::span<const std::int32_t> rows);  // the same, to add to those rows alone

// Hands over a finished gradient. The caller gives up the buffer.
void add_grad(const Var& x, Tensor dx);

}  // namespace hearth::ops
