#include "hearth/ops/weights.h"

#include <algorithm>

#include "hearth/base/profiler.h"
#include "hearth/kernels/elementwise.h"

namespace hearth::ops {
namespace {

constexpr std::size_t kLargeCopyBytes = std::size_t{1} << 20;  // half of a 2 MB L2 cache

// Replica::kind: the DType for a plain copy; from 16 on, two per DType, for packed copies of W and W^T.
int packed_kind(DType type, bool transposed) { return 16 + 2 * static_cast<int>(type) + (transposed ? 1 : 0); }

// The parameter's replica of this kind, up to date; `make` creates it at the first use.
template <class Make>
const Tensor& replica(Parameter& weights, int kind, const Make& make) {
  auto found = std::ranges::find(weights.replicas, kind, &Replica::kind);
  if (found == weights.replicas.end()) found = weights.replicas.insert(found, make(kind));
  if (found->version != weights.version) {
    const Span span("weight conversion");
    found->fill(0, weights.shape[0], true);
    found->version = weights.version;
  }
  found->was_read = true;
  return found->value;
}

Replica plain_copy(int kind, const Tensor& master, DType type) {
  const Tensor copy(master.shape(), type);
  const auto fill = [master, copy](std::int64_t begin, std::int64_t end, bool) {
    const Tensor from = master.slice(begin, end), to = copy.slice(begin, end);
    kernels::convert(DType::f32, from.raw(), to.type(), to.raw(), to.size());
  };
  return {.kind = kind, .value = copy, .fill = fill};
}

Replica packed_copy(int kind, const Tensor& master, const kernels::GemmImpl& impl, const kernels::GemmArgs& product) {
  const Tensor copy({impl.packed_bytes(product.type, product.k, product.n)}, DType::u8);
  kernels::PackArgs whole{product.k, product.n, product.type, master.data<float>(), product.ldb, product.b_transposed};
  whole.packed = copy.raw();
  const auto fill = [&impl, whole, copy](std::int64_t begin, std::int64_t end, bool read_soon) {
    kernels::PackArgs rows = whole;
    rows.row_begin = begin;
    rows.row_end = end;
    rows.past_cache = !read_soon && copy.bytes() >= kLargeCopyBytes;
    impl.pack(rows);
  };
  return {.kind = kind, .value = copy, .fill = fill, .row_unit = kernels::kPackedRows};
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
    product.b = replica(weights, static_cast<int>(type), [&](int kind) {
                  return plain_copy(kind, weights.master, type);
                }).raw();
  } else {
    product.packed_b = replica(weights, packed_kind(type, transposed), [&](int kind) {
                         return packed_copy(kind, weights.master, impl, product);
                       }).raw();
  }
}

}  // namespace hearth::ops
