#pragma once

#include "hearth/kernels/gemm/gemm.h"

namespace hearth::kernels {

// One tile: C(m, n) f32 = [C +] A B, on the calling thread. A and B point at the tile's first element.
struct GemmTile {
  std::int64_t m, n, k;
  DType type;
  const void* a;
  std::int64_t lda;
  bool a_transposed;
  const void* b;
  std::int64_t ldb;
  bool b_transposed;
  float* c;
  std::int64_t ldc;
  bool accumulate;
};
using TileProduct = void (*)(const GemmTile&);

// Whole matmuls, tile by tile on all threads. With A transposed, sums over tokens are made in fixed chunks.
void run_tiled(std::span<const GemmArgs> matmuls, TileProduct product);

// The epilogue of a matmul for one block of C: bias, activation and conversion of f32 sums. If C is stored in blocks,
// it lies within one of them.
void finish_block(const GemmArgs& args, std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols,
                  const float* sums, std::int64_t ld);

// GemmArgs::a_sums, where they are wanted, on their own.
void sum_a(const GemmArgs& args);

// GemmArgs::c_squares, where it is wanted, from the sums of squares of all blocks of C, in the order of the blocks.
void set_squares(const GemmArgs& args, std::span<const double> of_blocks);

// A matmul with k = 0: zeros still get their bias and activation.
void finish_empty_sum(const GemmArgs& args);

}  // namespace hearth::kernels
