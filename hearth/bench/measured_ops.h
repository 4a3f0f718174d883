#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hearth/nn/encoder.h"
#include "hearth/tensor/batch.h"

namespace hearth::bench {

struct MeasuredOp {
  std::string name;
  double bytes = 0, flops = 0;
  std::function<void()> run;
};

// The kernels of a training step other than matmuls, at the sizes of the step; optimizers run over the weights of one
// encoder layer. The batch must outlive them.
std::vector<MeasuredOp> measured_ops(const nn::TransformerConfig& config, const Batch& batch, DType type);

}  // namespace hearth::bench
