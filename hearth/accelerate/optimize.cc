#include "hearth/accelerate/optimize.h"

#include "hearth/base/check.h"
#include "hearth/kernels/gemm/gemm.h"
#include "hearth/ops/weights.h"

namespace hearth {
namespace {

void pack(Parameter& weights, DType dtype, bool transposed) {
  kernels::GemmArgs matmul;
  matmul.type = dtype;
  ops::set_weights(matmul, weights, transposed);
}

void pack_all(ParameterStore& parameters, DType dtype, bool for_training) {
  for (const auto& parameter : parameters.parameters()) {
    if (parameter->is_embedding || parameter->is_norm || parameter->shape.rank() != 2) continue;
    pack(*parameter, dtype, true);                     // y = x W^T
    if (for_training) pack(*parameter, dtype, false);  // dx = dy W
  }
}

}  // namespace

void optimize(nn::Model& model, DType dtype) { pack_all(model.parameters(), dtype, false); }

void optimize(nn::Model& model, optim::Optimizer& optimizer, DType dtype) {
  check(&optimizer.parameters() == &model.parameters(), "[optimize] the optimizer updates another model than this one");
  pack_all(model.parameters(), dtype, true);
}

}  // namespace hearth
