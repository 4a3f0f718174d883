#include "hearth/kernels/gemm/tiles.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "hearth/base/rounding.h"
#include "hearth/cpu/parallel.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/kernels/simd/scratch.h"
#include "hearth/kernels/update/optimizer.h"

namespace hearth::kernels {
namespace {

// These do not depend on the number of threads. With A transposed the sum runs over tokens, in chunks of kSumChunk.
constexpr std::int64_t kTileRows = 256, kTileCols = 256, kSumChunk = 512;

const std::byte* element(const void* base, std::int64_t index, DType type) {
  return static_cast<const std::byte*>(base) + static_cast<std::size_t>(index) * size_of(type);
}

void run_tile(const GemmArgs& args, TileProduct product, std::int64_t row, std::int64_t col, double* squares) {
  GemmTile tile;
  tile.m = std::min(kTileRows, args.m - row);
  tile.n = std::min(kTileCols, args.n - col);
  tile.k = args.k;
  tile.type = args.type;
  tile.a = element(args.a, args.a_transposed ? row : row * args.lda, args.type);
  tile.lda = args.lda;
  tile.a_transposed = args.a_transposed;
  tile.b = element(args.b, args.b_transposed ? col * args.ldb : col, args.type);
  tile.ldb = args.ldb;
  tile.b_transposed = args.b_transposed;

  const std::int64_t offset = row * args.ldc + col;
  const bool direct = stores_sums(args);
  tile.c = direct ? static_cast<float*>(args.c) + offset : scratch<float, Scratch::gemm_tile>(tile.m * tile.n);
  tile.ldc = direct ? args.ldc : tile.n;
  tile.accumulate = direct && args.accumulate;

  const std::int64_t chunk = args.a_transposed ? kSumChunk : args.k;
  for (std::int64_t begin = 0; begin < args.k; begin += chunk) {
    GemmTile part = tile;
    part.k = std::min(chunk, args.k - begin);
    part.a = element(tile.a, args.a_transposed ? begin * args.lda : begin, args.type);
    part.b = element(tile.b, args.b_transposed ? begin : begin * args.ldb, args.type);
    part.accumulate = tile.accumulate || begin > 0;
    product(part);
  }
  if (squares != nullptr) *squares = sum_of_squares_serial(tile.m, tile.n, tile.c, tile.ldc);
  if (direct) return;

  finish_block(args, row, col, tile.m, tile.n, tile.c, tile.ldc);
}

std::int64_t tiles_of(const GemmArgs& args) { return divide_up(args.m, kTileRows) * divide_up(args.n, kTileCols); }

}  // namespace

void run_tiled(std::span<const GemmArgs> matmuls, TileProduct product) {
  std::vector<std::int64_t> tiles;
  std::vector<std::vector<double>> squares(matmuls.size());  // per tile, where they are wanted
  for (const GemmArgs& args : matmuls) {
    sum_a(args);
    if (args.c_squares != nullptr) squares[tiles.size()].resize(static_cast<std::size_t>(tiles_of(args)));
    tiles.push_back(tiles_of(args));
  }
  cpu::parallel_loops(tiles, [&](std::size_t matmul, std::int64_t tile) {
    const std::int64_t tile_cols = divide_up(matmuls[matmul].n, kTileCols);
    run_tile(matmuls[matmul], product, tile / tile_cols * kTileRows, tile % tile_cols * kTileCols,
             squares[matmul].empty() ? nullptr : &squares[matmul][static_cast<std::size_t>(tile)]);
  });
  for (std::size_t i = 0; i < matmuls.size(); ++i) set_squares(matmuls[i], squares[i]);
}

void finish_block(const GemmArgs& args, std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols,
                  const float* sums, std::int64_t ld) {
  const bool in_blocks = args.c_layout == Layout::blocks;
  const std::int64_t index = in_blocks ? index_in_blocks(row, col, args.ldc) : row * args.ldc + col;
  const auto at = [&](void* base) -> void* {
    const auto offset = static_cast<std::size_t>(index) * size_of(args.c_type);
    return base == nullptr ? nullptr : static_cast<std::byte*>(base) + offset;
  };
  TileEnd end;
  end.activation = args.activation;
  end.bias = args.bias == nullptr ? nullptr : args.bias + col;
  end.type = args.c_type;
  end.y = at(args.c);
  end.before = at(args.before_activation);
  end.slope_at = at(const_cast<void*>(args.slope_at));
  end.activated = at(args.activated);
  end.ldy = in_blocks ? kBlockSide : args.ldc;
  end.accumulate = args.accumulate;
  finish_tile(end, rows, cols, sums, ld);
}

void sum_a(const GemmArgs& args) {
  if (args.a_sums != nullptr)
    column_sums(args.type, args.k, args.m, args.a, args.lda, args.a_sums, args.accumulate_a_sums);
}

void set_squares(const GemmArgs& args, std::span<const double> of_blocks) {
  if (args.c_squares != nullptr) *args.c_squares = std::accumulate(of_blocks.begin(), of_blocks.end(), 0.0);
}

void finish_empty_sum(const GemmArgs& args) {
  sum_a(args);
  cpu::parallel_chunks(args.m, kTileRows, [&](std::int64_t begin, std::int64_t end) {
    const std::span<float> zeros(scratch<float, Scratch::gemm_tile>(args.n), static_cast<std::size_t>(args.n));
    std::ranges::fill(zeros, 0.0f);
    for (std::int64_t row = begin; row < end; ++row) finish_block(args, row, 0, 1, args.n, zeros.data(), args.n);
  });
  if (args.c_squares != nullptr)
    *args.c_squares = sum_of_squares_serial(args.m, args.n, static_cast<const float*>(args.c), args.ldc);
}

}  // namespace hearth::kernels
