#include "hearth/ops/weights.h"

namespace hearth::ops {

void set_weights(kernels::GemmArgs& matmul, Parameter& weights, bool transposed, const Context* ctx) {
  using Layout = WeightForm::Layout;
  const bool packs = kernels::choose_gemm(matmul.type).pack != nullptr;
  const Layout packed = transposed ? Layout::packed_transposed : Layout::packed;
  const WeightForm form{matmul.type, packs ? packed : Layout::plain};
  const Tensor& values = ctx != nullptr ? ctx->acquire(weights, form) : acquire(weights, form);
  matmul.b_transposed = transposed;
  matmul.ldb = weights.shape[1];
  (packs ? matmul.packed_b : matmul.b) = values.raw();
}

}  // namespace hearth::ops
