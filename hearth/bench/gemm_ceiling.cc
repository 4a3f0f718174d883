#include "hearth/bench/gemm_ceiling.h"

#include <algorithm>

#include "hearth/base/timer.h"

namespace hearth::bench {

Work GemmCeiling::measure(std::int64_t tokens) {
  constexpr double kSeconds = 0.1;
  const std::vector<Product> products = training_products(config_, tokens, type_);
  // Not kept: between two steps the memory of the activations is free, so this does not raise the peak.
  const ProductMemory memory(products);
  if (chosen_.empty()) choose(products, memory);
  Work work;
  for (const Timer all; work.flops == 0 || all.seconds() < kSeconds;)
    for (std::size_t i = 0; i < products.size(); ++i) work += memory.run(products[i], *chosen_[i]);
  return work;
}

void GemmCeiling::choose(const std::vector<Product>& products, const ProductMemory& memory) {
  for (const Product& product : products) {
    const kernels::GemmImpl* best = &kernels::choose_gemm(type_, cpu::isa());
    double best_rate = 0;
    for (const kernels::GemmImpl* impl : product_impls(type_)) {
      // The best of several runs: a neighbour's load in a single one must not decide.
      constexpr int kRuns = 6;
      double rate = 0;
      for (int run = 0; run < kRuns; ++run) rate = std::max(rate, memory.run(product, *impl).gflops());
      if (rate > best_rate) {
        best = impl;
        best_rate = rate;
      }
    }
    chosen_.push_back(best);
  }
}

std::string GemmCeiling::impl_names() const {
  std::string names;
  for (const kernels::GemmImpl& impl : kernels::gemm_impls())
    if (std::ranges::find(chosen_, &impl) != chosen_.end())
      names += (names.empty() ? "" : ", ") + std::string(impl.name);
  return names;
}

}  // namespace hearth::bench
