#pragma once

#include <string>
#include <vector>

#include "hearth/bench/products.h"

namespace hearth::bench {

// How fast this machine multiplies what a training step of the model multiplies: its products, each by the fastest
// implementation, which the first measurement finds out.
class GemmCeiling {
 public:
  GemmCeiling(const nn::EncoderConfig& config, DType type) : config_(config), type_(type) {}

  // All products of a layer at so many tokens, again and again for about a tenth of a second.
  Work measure(std::int64_t tokens);
  // The names of the implementations in use: "onednn", or "amx, onednn".
  std::string impl_names() const;

 private:
  void choose(const std::vector<Product>& products, const ProductMemory& memory);

  nn::EncoderConfig config_;
  DType type_;
  std::vector<const kernels::GemmImpl*> chosen_;  // by product
};

}  // namespace hearth::bench
