#include "hearth/kernels/gemm/reference.h"

#include "hearth/base/check.h"
#include "hearth/kernels/gemm/tiles.h"

namespace hearth::kernels {
namespace {

template <class T>
void product(const GemmTile& t) {
  const auto* a = static_cast<const T*>(t.a);
  const auto* b = static_cast<const T*>(t.b);
  for (std::int64_t i = 0; i < t.m; ++i)
    for (std::int64_t j = 0; j < t.n; ++j) {
      double sum = 0;
      for (std::int64_t p = 0; p < t.k; ++p)
        sum += double{static_cast<float>(a[t.a_transposed ? p * t.lda + i : i * t.lda + p])} *
               double{static_cast<float>(b[t.b_transposed ? j * t.ldb + p : p * t.ldb + j])};
      float& c = t.c[i * t.ldc + j];
      c = static_cast<float>((t.accumulate ? double{c} : 0.0) + sum);
    }
}

void reference_tile(const GemmTile& tile) {
  switch (tile.type) {
    case DType::f32:
      return product<float>(tile);
    case DType::bf16:
      return product<BFloat16>(tile);
    case DType::f16:
      return product<Float16>(tile);
    default:
      fail("[gemm] there is no matmul of {}", name_of(tile.type));
  }
}

}  // namespace

void reference_gemm(std::span<const GemmArgs> matmuls) { run_tiled(matmuls, reference_tile); }

}  // namespace hearth::kernels
