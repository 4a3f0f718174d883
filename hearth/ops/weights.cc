#include "hearth/ops/weights.h"

#include <algorithm>

#include "hearth/base/profiler.h"
#include "hearth/kernels/elementwise.h"

namespace hearth::ops {
namespace {

// Formats number the plain copies; packed ones follow, two a format.
int packed_kind(DType type, bool transposed) { return 16 + 2 * static_cast<int>(type) + (transposed ? 1 : 0); }

template <class Fill>
const Tensor& replica(Parameter& weights, int kind, const Shape& shape, DType type, const Fill& fill) {
  auto found = std::ranges::find(weights.replicas, kind, &Replica::kind);
  if (found == weights.replicas.end()) found = weights.replicas.insert(found, {kind, 0, Tensor(shape, type)});
  if (found->version != weights.version) {
    const Span span("weight conversion");
    fill(found->value);
    found->version = weights.version;
  }
  return found->value;
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
    product.b = replica(weights, static_cast<int>(type), weights.shape, type, [&](const Tensor& copy) {
                  kernels::convert(DType::f32, weights.master.raw(), type, copy.raw(), copy.size());
                }).raw();
  } else {
    const Shape bytes({impl.packed_bytes(type, product.k, product.n)});
    product.packed_b =
        replica(weights, packed_kind(type, transposed), bytes, DType::u8, [&](const Tensor& copy) {
          impl.pack({product.k, product.n, type, weights.master.data<float>(), product.ldb, transposed, copy.raw()});
        }).raw();
  }
}

}  // namespace hearth::ops
