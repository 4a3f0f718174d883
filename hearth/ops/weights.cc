#include "hearth/ops/weights.h"

#include <algorithm>

#include "hearth/base/profiler.h"
#include "hearth/kernels/elementwise.h"

namespace hearth::ops {
namespace {

// Formats number the plain copies; packed ones follow, two a format.
int packed_kind(DType type, bool transposed) { return 16 + 2 * static_cast<int>(type) + (transposed ? 1 : 0); }

// The parameter's replica of the kind, up to date; `make` makes a new one.
template <class Make>
const Tensor& replica(Parameter& weights, int kind, const Make& make) {
  auto found = std::ranges::find(weights.replicas, kind, &Replica::kind);
  if (found == weights.replicas.end()) {
    found = weights.replicas.insert(found, make());
    found->kind = kind;
  }
  if (found->version != weights.version) {
    const Span span("weight conversion");
    found->fill(0, weights.shape[0]);
    found->version = weights.version;
  }
  return found->value;
}

Replica plain_copy(Parameter& weights, DType type) {
  const Tensor copy(weights.shape, type);
  const auto fill = [&weights, copy](std::int64_t begin, std::int64_t end) {
    const Tensor from = weights.master.slice(begin, end), to = copy.slice(begin, end);
    kernels::convert(DType::f32, from.raw(), to.type(), to.raw(), to.size());
  };
  return {0, 0, copy, fill, 1};
}

Replica packed_copy(Parameter& weights, const kernels::GemmImpl& impl, const kernels::GemmArgs& product) {
  const Tensor copy({impl.packed_bytes(product.type, product.k, product.n)}, DType::u8);
  const kernels::PackArgs whole{product.k,   product.n,   product.type,           weights.master.data<float>(),
                                product.ldb, product.b_transposed, copy.raw()};
  const auto fill = [&impl, whole, copy](std::int64_t begin, std::int64_t end) {
    kernels::PackArgs rows = whole;
    rows.row_begin = begin;
    rows.row_end = end;
    impl.pack(rows);
  };
  return {0, 0, copy, fill, kernels::kPackedRows};
}

}  // namespace

void set_weights(kernels::GemmArgs& product, Parameter& weights, bool transposed) {
  const DType type = product.type;
  const kernels::GemmImpl& impl = kernels::choose_gemm(type);
  product.b_transposed = transposed;
  product.ldb = weights.shape[1];
  if (type == DType::f32) {
    product.b = weights.master.raw();
  } else if (impl.pack == nullptr) {
    product.b = replica(weights, static_cast<int>(type), [&] { return plain_copy(weights, type); }).raw();
  } else {
    const int kind = packed_kind(type, transposed);
    product.packed_b = replica(weights, kind, [&] { return packed_copy(weights, impl, product); }).raw();
  }
}

}  // namespace hearth::ops
