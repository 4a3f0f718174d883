#include "hearth/kernels/gemm/widen.h"

#include "hearth/kernels/gemm/onednn.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/kernels/simd/scratch.h"

namespace hearth::kernels {
namespace {

void widen_rows(DType type, const void* from, std::int64_t ld, std::int64_t rows, std::int64_t cols, float* to) {
  for (std::int64_t row = 0; row < rows; ++row)
    convert_serial(type, static_cast<const std::byte*>(from) + static_cast<std::size_t>(row * ld) * size_of(type),
                   DType::f32, to + row * cols, cols);
}

void widen_tile(const GemmTile& tile) {
  GemmTile wide = tile;
  wide.type = DType::f32;
  const std::int64_t a_rows = tile.a_transposed ? tile.k : tile.m, a_cols = tile.a_transposed ? tile.m : tile.k;
  const std::int64_t b_rows = tile.b_transposed ? tile.n : tile.k, b_cols = tile.b_transposed ? tile.k : tile.n;
  auto* a = scratch<float, Scratch::gemm_widen_a>(a_rows * a_cols);
  auto* b = scratch<float, Scratch::gemm_widen_b>(b_rows * b_cols);
  widen_rows(tile.type, tile.a, tile.lda, a_rows, a_cols, a);
  widen_rows(tile.type, tile.b, tile.ldb, b_rows, b_cols, b);
  wide.a = a;
  wide.lda = a_cols;
  wide.b = b;
  wide.ldb = b_cols;
  onednn_tile(wide);
}

}  // namespace

bool widen_accepts(DType type, cpu::Isa) { return type == DType::bf16 || type == DType::f16; }

void widen_gemm(std::span<const GemmArgs> matmuls) { run_tiled(matmuls, widen_tile); }

}  // namespace hearth::kernels
