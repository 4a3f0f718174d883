#pragma once

#include <span>
#include <vector>

#include "hearth/autograd/tape.h"
#include "hearth/base/api.h"

namespace hearth::ops {

// The destination of a gradient: a new buffer to overwrite, or one that holds a contribution already, to add to.
struct GradTarget {
  Tensor tensor;
  bool accumulate = false;
};

HEARTH_API GradTarget grad_target(const GradientEdge& x);  // has the shape and dtype of the value
HEARTH_API GradTarget grad_target(Parameter& parameter);   // the parameter's slice of the gradient arena
HEARTH_API Tensor grad_target(Parameter& embedding,
                              std::span<const std::int32_t> rows);  // the same; the caller adds to these rows only

inline std::vector<GradientEdge> edges_of(std::span<const Var> values) { return {values.begin(), values.end()}; }
// The value that the gradient of x reads; undefined, so that nothing is kept, if x needs none.
inline Tensor value_for_grad_of(const GradientEdge& x, const Var& read) {
  return x.needs_grad() ? read.value() : Tensor();
}

// Hands over a finished gradient; the caller must not use the buffer afterwards.
HEARTH_API void add_grad(const GradientEdge& x, Tensor dx);

}  // namespace hearth::ops
