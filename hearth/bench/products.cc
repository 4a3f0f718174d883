#include "hearth/bench/products.h"

#include <algorithm>

#include "hearth/base/rounding.h"
#include "hearth/base/timer.h"
#include "hearth/bench/random_numbers.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/ops/linear_matmuls.h"

namespace hearth::bench {
namespace {

using kernels::Layout;

struct LinearLayer {
  std::string_view name;
  std::int64_t outputs, inputs;
  Layout x = Layout::rows, dx = Layout::rows;  // of the input and its gradient
  Layout y = Layout::rows;                     // of the output and its gradient
};

std::vector<LinearLayer> linear_layers(const nn::TransformerConfig& config, std::int64_t tokens, DType type) {
  const std::int64_t hidden = config.hidden, intermediate = config.intermediate;
  const auto layout_of_input = [&](std::int64_t outputs) {
    return ops::copies_input(type, tokens, hidden, outputs) ? Layout::blocks : Layout::rows;
  };
  const Layout between = ops::layout_between_matmuls(type, tokens, intermediate);
  return {{.name = "query, key, value", .outputs = 3 * hidden, .inputs = hidden, .x = layout_of_input(3 * hidden)},
          {.name = "attention output", .outputs = hidden, .inputs = hidden, .x = layout_of_input(hidden)},
          {.name = "intermediate",
           .outputs = intermediate,
           .inputs = hidden,
           .x = layout_of_input(intermediate),
           .y = between},
          {.name = "output", .outputs = hidden, .inputs = intermediate, .x = between, .dx = between}};
}

}  // namespace

std::vector<Product> training_products(const nn::TransformerConfig& config, std::int64_t tokens, DType type) {
  std::vector<Product> products;
  for (const auto& [name, outputs, inputs, x, dx, y] : linear_layers(config, tokens, type)) {
    products.push_back({name, kPasses[0], tokens, outputs, inputs, false, true, type, type, x, Layout::rows, y});
    products.push_back({name, kPasses[1], tokens, inputs, outputs, false, false, type, type, y, Layout::rows, dx});
    products.push_back({name, kPasses[2], outputs, inputs, tokens, true, false, type, DType::f32, y, x, Layout::rows});
  }
  return products;
}

std::vector<const kernels::GemmImpl*> product_impls(DType type) {
  std::vector<const kernels::GemmImpl*> impls;
  const auto all = kernels::gemm_impls();
  for (const kernels::GemmImpl& impl : all.first(all.size() - 1))
    if (impl.accepts(type, cpu::isa())) impls.push_back(&impl);
  return impls;
}

ProductMemory::ProductMemory(const std::vector<Product>& products) {
  std::int64_t a = 0, b = 0, c = 0;
  for (const Product& product : products) {
    // In blocks the number of tokens is rounded up.
    const std::int64_t m = round_up(product.m, kernels::kBlockSide), k = round_up(product.k, kernels::kBlockSide);
    a = std::max(a, m * k);
    b = std::max(b, k * product.n);
    c = std::max(c, m * product.n * static_cast<std::int64_t>(size_of(product.c_type)));
  }
  a_ = Tensor({a}, products.front().type);
  b_ = Tensor({b}, products.front().type);
  c_ = Tensor({c}, DType::u8);
  fill_randomly(a_);
  fill_randomly(b_);
  const Tensor weights({b}, DType::f32);
  kernels::convert(b_.type(), b_.raw(), DType::f32, weights.raw(), b);
  for (const kernels::GemmImpl* impl : product_impls(b_.type()))
    for (const Product& product : products) {
      if (impl->pack == nullptr || product.a_transposed) continue;
      const Tensor packed({impl->packed_bytes(product.type, product.k, product.n)}, DType::u8);
      impl->pack({product.k, product.n, product.type, weights.data<float>(),
                  product.b_transposed ? product.k : product.n, product.b_transposed, packed.raw()});
      packed_weights_.push_back({impl, product.k, product.n, product.b_transposed, packed});
    }
}

Work ProductMemory::run(const Product& product, const kernels::GemmImpl& impl) const {
  kernels::GemmArgs args;
  args.m = product.m;
  args.n = product.n;
  args.k = product.k;
  args.type = product.type;
  args.a = a_.raw();
  args.lda = product.a_transposed ? product.m : product.k;
  args.a_transposed = product.a_transposed;
  args.b = b_.raw();
  args.ldb = product.b_transposed ? product.k : product.n;
  args.b_transposed = product.b_transposed;
  args.c_type = product.c_type;
  args.c = c_.raw();
  args.ldc = product.n;
  if (impl.takes_bf16_blocks) {
    args.a_layout = product.a_layout;
    args.b_layout = product.b_layout;
    args.c_layout = product.c_layout;
  }
  const auto packed = std::ranges::find_if(packed_weights_, [&](const PackedWeights& weights) {
    return weights.impl == &impl && weights.k == product.k && weights.n == product.n &&
           weights.transposed == product.b_transposed;
  });
  if (packed != packed_weights_.end() && !product.a_transposed) args.packed_b = packed->value.raw();
  const auto c_bytes = static_cast<std::size_t>(product.m * product.n) * size_of(product.c_type);
  args.non_temporal = product.a_transposed && c_bytes >= kernels::kLargeBytes;  // as in training
  const Timer timer;
  kernels::gemm_with(impl, {&args, 1});
  return {product.flops(), timer.seconds()};
}

}  // namespace hearth::bench
