#pragma once

#include <string_view>
#include <vector>

#include "hearth/kernels/gemm/gemm.h"
#include "hearth/nn/encoder.h"
#include "hearth/tensor/tensor.h"

namespace hearth::bench {

// One matmul of a training step: the forward pass, the input gradient or the weight gradient of a linear layer.
struct Product {
  std::string_view layer, pass;
  std::int64_t m = 0, n = 0, k = 0;
  bool a_transposed = false, b_transposed = false;
  DType type = DType::f32, c_type = DType::f32;
  // As training has them, for implementations that take blocks; for others all are in rows.
  kernels::Layout a_layout = kernels::Layout::rows, b_layout = kernels::Layout::rows, c_layout = kernels::Layout::rows;

  double flops() const { return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k); }
};

inline constexpr std::string_view kPasses[] = {"forward", "input gradient", "weight gradient"};

// The matmuls of one encoder layer: query, key and value in one, attention output, and the two layers of the FFN; each
// in three passes.
std::vector<Product> training_products(const nn::TransformerConfig& config, std::int64_t tokens, DType type);

// The implementations of the dtype on this processor, without the plain reference.
std::vector<const kernels::GemmImpl*> product_impls(DType type);

// FLOPs and the time they took.
struct Work {
  double flops = 0, seconds = 0;

  double gflops() const { return seconds > 0 ? flops / seconds / 1e9 : 0; }
  Work& operator+=(const Work& other) {
    flops += other.flops;
    seconds += other.seconds;
    return *this;
  }
};

// The buffers that matmuls read (small random numbers) and write. Weights are packed beforehand for implementations
// that read packed weights, as training packs them once per step.
class ProductMemory {
 public:
  explicit ProductMemory(const std::vector<Product>& products);

  // The time of the bare matmul, without bias or activation.
  Work run(const Product& product, const kernels::GemmImpl& impl) const;

 private:
  struct PackedWeights {
    const kernels::GemmImpl* impl;
    std::int64_t k, n;
    bool transposed;
    Tensor value;
  };

  Tensor a_, b_, c_;
  std::vector<PackedWeights> packed_weights_;
};

}  // namespace hearth::bench
