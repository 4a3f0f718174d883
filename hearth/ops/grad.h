#pragma once

#include <span>

#include "hearth/autograd/tape.h"

namespace hearth::ops {

// The destination of a gradient: a new buffer to overwrite, or one that holds a contribution already, to add to.
struct GradTarget {
  Tensor tensor;
  bool accumulate = false;
};

GradTarget grad_target(const Var& x);          // has the shape and dtype of the value
GradTarget grad_target(Parameter& parameter);  // the parameter's slice of the gradient arena
Tensor grad_target(Parameter& embedding,
                   std::span<const std::int32_t> rows);  // the same; the caller adds to these rows only

// Hands over a finished gradient; the caller must not use the buffer afterwards.
void add_grad(const Var& x, Tensor dx);

}  // namespace hearth::ops
