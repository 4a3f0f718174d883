#pragma once

#include <string>
#include <vector>

#include "hearth/bench/products.h"

namespace hearth::bench {

// The GEMM ceiling: the FLOP/s that this machine reaches on the bare matmuls of a training step, each by the fastest
// implementation, which the first measurement determines.
class GemmCeiling {
 public:
  GemmCeiling(const nn::TransformerConfig& config, DType type) : config_(config), type_(type) {}

  // Runs all matmuls of a layer with this many tokens, repeatedly for about a tenth of a second.
  Work measure(std::int64_t tokens);
  // The names of the implementations in use: "onednn", or "amx, onednn".
  std::string impl_names() const;

 private:
  void choose(const std::vector<Product>& products, const ProductMemory& memory);

  nn::TransformerConfig config_;
  DType type_;
  std::vector<const kernels::GemmImpl*> chosen_;  // per matmul
};

}  // namespace hearth::bench
