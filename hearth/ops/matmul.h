#pragma once

#include <optional>

#include "hearth/base/api.h"
#include "hearth/ops/context.h"

namespace hearth::ops {

struct MatmulOptions {
  bool transpose_a = false, transpose_b = false;
  std::optional<DType> out = {};  // the dtype of the result; that of a and b if empty
};

// y (M, N) = A B, where A (M, K) is a or its transpose and B (K, N) is b or its transpose. Sums are f32. A weight is
// multiplied by ops::linear, which reads it in the layout of the matmul.
HEARTH_API Var matmul(Context& ctx, const Var& a, const Var& b, const MatmulOptions& options = {});

}  // namespace hearth::ops
