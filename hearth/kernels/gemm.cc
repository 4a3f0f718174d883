#include "hearth/kernels/gemm.h"

#include <algorithm>
#include <cassert>
#include <cstddef>

#include "hearth/base/error.h"
#include "hearth/cpu/parallel.h"
#include "hearth/kernels/gemm_onednn.h"
#include "hearth/kernels/gemm_reference.h"
#include "hearth/kernels/gemm_widen.h"
#include "hearth/kernels/scratch.h"

namespace hearth::kernels {
namespace {

constexpr GemmImpl kImpls[] = {
    {"onednn", onednn_accepts, onednn_tile},
    {"widen", widen_accepts, widen_tile},
    {"reference", [](DType, cpu::Isa) { return true; }, reference_tile},
};

// Fixed whatever the number of threads. With A transposed the sum runs over tokens, in chunks of kSumChunk.
constexpr std::int64_t kTileRows = 256, kTileCols = 256, kSumChunk = 512;

const std::byte* element(const void* base, std::int64_t index, DType type) {
  return static_cast<const std::byte*>(base) + static_cast<std::size_t>(index) * size_of(type);
}

void run_tile(const GemmImpl& impl, const GemmArgs& args, std::int64_t row, std::int64_t col) {
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
  const bool direct = args.c_type == DType::f32 && args.bias == nullptr && args.activation == Activation::none &&
                      args.before_activation == nullptr;
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
    impl.run(part);
  }
  if (direct) return;

  TileEnd end;
  end.activation = args.activation;
  end.bias = args.bias == nullptr ? nullptr : args.bias + col;
  end.type = args.c_type;
  end.y = const_cast<std::byte*>(element(args.c, offset, args.c_type));
  end.before = args.before_activation == nullptr
                   ? nullptr
                   : const_cast<std::byte*>(element(args.before_activation, offset, args.c_type));
  end.ldy = args.ldc;
  end.accumulate = args.accumulate;
  finish_tile(end, tile.m, tile.n, tile.c, tile.ldc);
}

// No terms to sum: a product of zeros still gets its bias and activation.
void run_empty_sum(const GemmArgs& args) {
  cpu::parallel_chunks(args.m, kTileRows, [&](std::int64_t begin, std::int64_t end) {
    const std::span<float> zeros(scratch<float, Scratch::gemm_tile>(args.n), static_cast<std::size_t>(args.n));
    std::ranges::fill(zeros, 0.0f);
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t offset = row * args.ldc;
      void* before = args.before_activation;
      finish_tile(
          {args.activation, args.bias, args.c_type, const_cast<std::byte*>(element(args.c, offset, args.c_type)),
           before == nullptr ? nullptr : const_cast<std::byte*>(element(before, offset, args.c_type)), args.ldc,
           args.accumulate},
          1, args.n, zeros.data(), args.n);
    }
  });
}

}  // namespace

std::span<const GemmImpl> gemm_impls() { return kImpls; }

const GemmImpl& choose_gemm(DType type, cpu::Isa isa) {
  return *std::ranges::find_if(kImpls, [&](const GemmImpl& impl) { return impl.accepts(type, isa); });
}

void gemm(const GemmArgs& args) { gemm_with(choose_gemm(args.type, cpu::isa()), args); }

void gemm_with(const GemmImpl& impl, const GemmArgs& args) {
  assert(!(args.accumulate && args.activation != Activation::none));
  if (args.m == 0 || args.n == 0) return;
  if (args.k == 0) return run_empty_sum(args);
  const std::int64_t tile_rows = (args.m + kTileRows - 1) / kTileRows;
  const std::int64_t tile_cols = (args.n + kTileCols - 1) / kTileCols;
  cpu::parallel_for(tile_rows * tile_cols, [&](std::int64_t tile) {
    run_tile(impl, args, tile / tile_cols * kTileRows, tile % tile_cols * kTileCols);
  });
}

}  // namespace hearth::kernels
