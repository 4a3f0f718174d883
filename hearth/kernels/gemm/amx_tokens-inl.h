#pragma once

// The gradient of a weight on AMX tiles: C(m, n) = A^T B, where A (k, m) and B (k, n) are activations and k counts
// tokens. Terms are those of amx-inl.h, and
//   block   192 x 192 of C: 6 left and 6 right panels.
//   chunk   16 k blocks: what a thread packs at a time, of the columns of its block.
//   share   the tokens of one task. A block is cut into several shares where blocks are few: then all threads have
//           work, and those that end early take shares of the others.
//
// Each thread packs what it multiplies, into memory that stays in its L2 cache. Several threads then pack the same
// columns, but for each k block of 12 panels to pack there are 36 to multiply, and no thread reads what another one has
// written. Packing transposes the left operand; the right one stays zipped until the sums are complete.
//
// A task packs chunk by chunk and adds the products to its sums, which are f32 scratch. Where a block has several
// shares, the thread that ends the last of them adds them up in order. Blocks and shares follow from the sizes alone.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "hearth/base/rounding.h"
#include "hearth/kernels/gemm/amx_matmul-inl.h"
#include "hearth/kernels/gemm/amx_pack.h"
#include "hearth/kernels/gemm/gemm.h"
#include "hearth/kernels/simd/amx_tiles.h"
#include "hearth/kernels/simd/scratch.h"

namespace hearth::kernels::amx {

template <class Tiles>
class TokenSum : public TileMatmul {
 public:
  static bool accepts(const GemmArgs& args) {
    return args.a_transposed && !args.b_transposed && args.packed_b == nullptr && args.c_type == DType::f32 &&
           args.bias == nullptr && args.activation == Activation::none && args.before_activation == nullptr;
  }

  explicit TokenSum(const GemmArgs& args)
      : args_(args),
        parts_(parts_of(args.type)),
        a_{static_cast<const std::uint16_t*>(args.a), args.lda, args.k, args.m},
        b_{static_cast<const std::uint16_t*>(args.b), args.ldb, args.k, args.n},
        k_blocks_(blocks_of(args.k)),
        col_blocks_(divide_up(args.n, kCols)),
        blocks_(divide_up(args.m, kRows) * col_blocks_),
        shares_(std::clamp<std::int64_t>(divide_up(kFewestTasks, blocks_), 1, divide_up(k_blocks_, kChunk))),
        shares_ended_(static_cast<std::size_t>(blocks_)),
        sums_(shares_ > 1 ? 2 * tasks() * kTaskFloats : 0) {}

  std::int64_t tasks() const override { return blocks_ * shares_; }

  void run(std::int64_t task) override {
    const std::int64_t index = task / shares_, share = task % shares_;
    const std::int64_t row = index / col_blocks_ * kRows, col = index % col_blocks_ * kCols;
    const Block block{row, col, std::min(kRows, args_.m - row), std::min(kCols, args_.n - col)};
    float* const sums = shares_ > 1 ? sums_of(index, share) : scratch<float, Scratch::gemm_tile>(kTaskFloats);
    add_share(block, k_blocks_ * share / shares_, k_blocks_ * (share + 1) / shares_, sums);
    const auto ended = shares_ended_[static_cast<std::size_t>(index)].fetch_add(1, std::memory_order_acq_rel) + 1;
    if (ended < shares_) return;
    float* const total = shares_ > 1 ? sums_of(index, 0) : sums;
    for (std::int64_t other = 1; other < shares_; ++other) add_floats(kTaskFloats, sums_of(index, other), total);
    finish(block, total);
  }

 private:
  static constexpr std::int64_t kRows = 192, kCols = 192, kChunk = 16, kFewestTasks = 128;
  static constexpr std::int64_t kPanels = kRows / kPanel + kCols / kPanel;
  static constexpr std::int64_t kColumnSums = kRows * kCols;        // where the sums of A begin in those of a task
  static constexpr std::int64_t kTaskFloats = kColumnSums + kRows;  // C, zipped, then the sums of A
  static constexpr std::int64_t kChunkElements = kChunk * 2 * kTileElements;  // of a packed panel

  struct Block {
    std::int64_t row, col, rows, cols;
  };

  float* sums_of(std::int64_t block, std::int64_t share) const {
    return reinterpret_cast<float*>(sums_.data()) + (block * shares_ + share) * kTaskFloats;
  }

  // sums = the share's k blocks [begin, end).
  HEARTH_TILES void add_share(const Block& block, std::int64_t begin, std::int64_t end, float* sums) const {
    const std::int64_t parts = std::ssize(parts_);
    auto* const left = scratch<std::uint16_t, Scratch::gemm_amx_rows>(parts * kPanels * kChunkElements);
    auto* const right = left + parts * kRows / kPanel * kChunkElements;
    std::fill_n(sums + kColumnSums, kRows, 0.0f);
    [[maybe_unused]] const Tiles tiles;
    for (std::int64_t k = begin; k < end; k += kChunk) {
      const std::int64_t depth = std::min(kChunk, end - k);
      pack_chunk(block, k, depth, left, right);
      if (args_.a_sums != nullptr && block.col == 0) add_chunk_columns(block, k, depth, sums + kColumnSums);
      multiply_chunk(block, depth, left, right, sums, k > begin);
    }
  }

  // Panel by panel would read a column of narrow pieces; k block by k block reads rows.
  void pack_chunk(const Block& block, std::int64_t k, std::int64_t depth, std::uint16_t* left,
                  std::uint16_t* right) const {
    const std::int64_t parts = std::ssize(parts_);
    const auto pack = [&](const TokenRows& rows, std::int64_t first, std::int64_t count, auto pack_block,
                          std::uint16_t* to) {
      for (std::int64_t i = 0; i < depth; ++i)
        for (std::int64_t c = 0; c < count; c += kPanel)
          for (std::int64_t part = 0; part < parts; ++part)
            pack_block(rows, parts_[part], (k + i) * kBlock, first + c,
                       to + (c / kPanel * parts + part) * kChunkElements + i * 2 * kTileElements);
    };
    pack(b_, block.col, block.cols, pack_zipped_right_block, right);
    pack(a_, block.row, block.rows, pack_left_block, left);
  }

  void add_chunk_columns(const Block& block, std::int64_t k, std::int64_t depth, float* sums) const {
    for (std::int64_t i = 0; i < depth; ++i)
      for (std::int64_t c = 0; c < block.rows; c += kPanel)
        add_columns(a_, args_.type, (k + i) * kBlock, block.row + c, sums + c);
  }

  HEARTH_TILES void multiply_chunk(const Block& block, std::int64_t depth, const std::uint16_t* left,
                                   const std::uint16_t* right, float* sums, bool accumulate) const {
    const std::int64_t parts = std::ssize(parts_);
    for (std::int64_t j = 0; j < panels_of(block.cols); ++j)
      for (std::int64_t i = 0; i < panels_of(block.rows); ++i) {
        float* const at = sums + i * kPanel * kCols + j * kPanel;
        if (accumulate)
          Tiles::load(at, kCols);
        else
          Tiles::zero();
        for (std::int64_t p = 0; p < parts; ++p)
          for (std::int64_t q = 0; q < parts - p; ++q) {
            const std::uint16_t* a = left + (i * parts + p) * kChunkElements;
            const std::uint16_t* b = right + (j * parts + q) * kChunkElements;
            for (std::int64_t k = 0; k < depth; ++k, a += 2 * kTileElements, b += 2 * kTileElements)
              Tiles::multiply(a, kBlock, kTileElements, b);
          }
        Tiles::store(at, kCols);
      }
  }

  void finish(const Block& block, const float* sums) const {
    for (std::int64_t r = 0; r < block.rows; ++r)
      unzip_columns(sums + r * kCols, block.cols,
                    static_cast<float*>(args_.c) + (block.row + r) * args_.ldc + block.col, args_.accumulate);
    if (args_.a_sums == nullptr || block.col > 0) return;
    float* const to = args_.a_sums + block.row;
    if (!args_.accumulate_a_sums) std::fill_n(to, block.rows, 0.0f);
    add_floats(block.rows, sums + kColumnSums, to);
  }

  const GemmArgs& args_;
  std::span<const Part> parts_;
  TokenRows a_, b_;
  std::int64_t k_blocks_, col_blocks_, blocks_, shares_;
  std::vector<std::atomic<std::int64_t>> shares_ended_;  // per block
  PoolBuffer sums_;                                      // (blocks, shares, kTaskFloats) f32 where shares_ > 1
};

}  // namespace hearth::kernels::amx
