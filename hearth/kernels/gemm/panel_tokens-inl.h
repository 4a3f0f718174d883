#pragma once

// The gradient of a weight on a tile unit: C(m, n) = A^T B, where A (k, m) and B (k, n) are activations and k counts
// tokens. Terms are those of panel_product-inl.h, and
//   block   192 x 192 of C, or a part of that where these would be too few (BlockShape).
//   chunk   up to 24 k blocks.
//   link    one chunk of the sum of one block. The links of a block are a chain: each adds to the sums of the one
//           before, so sums run along k in order and their bits repeat.
//
// Each thread packs what it multiplies, into memory that stays in its L2 cache. Several threads then pack the same
// columns, but in the largest blocks there are 36 k blocks to multiply for 12 to pack, and no thread reads what another
// one has written. (Panels that all threads pack together and then read cost more than that: a line that was read by
// all cores is slow to write again.) Packing transposes the left operand; the right one stays zipped until a sum is
// complete. A thread keeps its last left chunk, because blocks beside each other need the same one.
//
// The speed of threads differs, so a thread that is done takes links of the others. Which links are next changes with
// every link that ends; therefore a task is no certain link but a ticket: it runs a link that is ready, of the block
// that the ticket names if possible.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "hearth/base/rounding.h"
#include "hearth/cpu/memory.h"
#include "hearth/kernels/gemm/gemm.h"
#include "hearth/kernels/gemm/panel_matmul-inl.h"
#include "hearth/kernels/gemm/panels.h"
#include "hearth/kernels/gemm/tiles.h"
#include "hearth/kernels/simd/scratch.h"
#include "hearth/kernels/simd/tiles.h"

namespace hearth::kernels::panels {

// What a thread has packed last.
struct PackedChunk {
  detail::GrowingBuffer left, right;
  std::uint64_t matmul = 0;         // whose left operand it is
  std::int64_t row = 0, begin = 0;  // its first row of C and first k block

  static PackedChunk& of_this_thread() {
    static thread_local PackedChunk chunk;
    return chunk;
  }
  // A number for `matmul` that no other matmul has.
  static std::uint64_t next_matmul() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
  }
};

template <TileUnit Tiles>
class TokenSum : public TileMatmul {
 public:
  explicit TokenSum(const GemmArgs& args)
      : args_(args),
        a_{static_cast<const std::uint16_t*>(args.a), args.type, args.lda, args.k, args.m, args.a_layout},
        b_{static_cast<const std::uint16_t*>(args.b), args.type, args.ldb, args.k, args.n, args.b_layout},
        k_blocks_(blocks_of(args.k)),
        links_(divide_up(k_blocks_, kChunk)),
        shape_(shape_for(args.m, args.n, links_)),
        col_blocks_(divide_up(args.n, shape_.cols)),
        non_temporal_(args.non_temporal && !args.accumulate && has_whole_lines(args)),
        blocks_(static_cast<std::size_t>(divide_up(args.m, shape_.rows) * col_blocks_)),
        squares_(args.c_squares != nullptr ? blocks_.size() : 0),
        sums_(links_ > 1 ? 2 * std::ssize(blocks_) * block_floats() : 0) {}

  std::int64_t tasks() const override { return std::ssize(blocks_) * links_; }

  // Each task opens one link. If no block is free, one of the threads that hold a block runs the link when its own has
  // ended: it releases its block before it looks for open links, and an open link is counted before a free block is
  // looked for, so one of the two sees the other.
  void run(std::int64_t task) override {
    open_links_.fetch_add(1);
    do {
      const std::int64_t index = claim(task / links_);
      if (index < 0) return;
      BlockState& block = blocks_[static_cast<std::size_t>(index)];
      if (take_open_link()) run_link(index, block.next_link++);
      block.held.store(false);
    } while (open_links_.load() > 0);
  }

  void end() override { set_squares(args_, squares_); }

 private:
  // In k blocks. Loading and storing the sums of 32 x 32 numbers takes as long as multiplying five k blocks; with 36
  // nothing was gained, with 48 chunks are too few to balance the threads (docs/performance-steps.md).
  static constexpr std::int64_t kChunk = 24;

  struct BlockState {
    std::atomic<bool> held = false;
    std::atomic<std::int64_t> next_link = 0;  // changed by the holder alone
  };
  struct Block {
    std::int64_t row, col, rows, cols;
  };

  // Multiples of kPanel.
  struct BlockShape {
    std::int64_t rows, cols;
  };
  // The largest shape that gives all threads work until the end. One thread at a time runs a chain, so there must be
  // more chains than threads; 16 threads were measured. Chains of a single link must be more still, because a thread
  // that is done cannot take over part of one.
  static BlockShape shape_for(std::int64_t m, std::int64_t n, std::int64_t links) {
    const std::int64_t enough = links > 1 ? 24 : 32;
    for (const BlockShape shape : {BlockShape{192, 192}, BlockShape{192, 96}})
      if (divide_up(m, shape.rows) * divide_up(n, shape.cols) >= enough) return shape;
    return {96, 96};
  }

  std::int64_t chunk_elements() const { return kChunk * block_elements(args_.type); }  // of a packed panel
  // A block of C consists of whole cache lines, except behind its last column.
  static bool has_whole_lines(const GemmArgs& args) {
    constexpr std::int64_t kLine = cpu::kAlignment / sizeof(float);
    return reinterpret_cast<std::uintptr_t>(args.c) % cpu::kAlignment == 0 && args.ldc % kLine == 0;
  }

  // The sums of a block: C, zipped, in blocks of 32 x 32 without gaps, column by column; then those of A.
  std::int64_t block_floats() const { return c_floats() + shape_.rows; }
  std::int64_t c_floats() const { return shape_.rows * shape_.cols; }

  bool take_open_link() {
    std::int64_t open = open_links_.load();
    while (open > 0)
      if (open_links_.compare_exchange_weak(open, open - 1)) return true;
    return false;
  }

  bool claim_if(std::int64_t index, std::int64_t link_before, std::int64_t link_end) {
    BlockState& block = blocks_[static_cast<std::size_t>(index)];
    const auto is_ready = [&] {
      const std::int64_t next = block.next_link.load();
      return next >= link_before && next < link_end;
    };
    if (block.held.load() || !is_ready() || block.held.exchange(true)) return false;
    if (is_ready()) return true;  // still so, now that it cannot change
    block.held.store(false);
    return false;
  }

  // A block with links left that no thread holds, -1: there is none. One that needs the left chunk that this thread
  // packed last is preferred, then those from `home` on.
  std::int64_t claim(std::int64_t home) {
    const PackedChunk& packed = PackedChunk::of_this_thread();
    if (packed.matmul == id_)
      for (std::int64_t link = 0; link < links_; ++link) {
        if (first_k_block(link) != packed.begin) continue;
        for (std::int64_t i = 0, first = packed.row / shape_.rows * col_blocks_; i < col_blocks_; ++i)
          if (claim_if(first + i, link, link + 1)) return first + i;
      }
    for (std::int64_t i = 0; i < std::ssize(blocks_); ++i) {
      const std::int64_t index = (home + i) % std::ssize(blocks_);
      if (claim_if(index, 0, links_)) return index;
    }
    return -1;
  }

  std::int64_t first_k_block(std::int64_t link) const { return k_blocks_ * link / links_; }

  void run_link(std::int64_t index, std::int64_t link) {
    const std::int64_t row = index / col_blocks_ * shape_.rows, col = index % col_blocks_ * shape_.cols;
    const Block block{row, col, std::min(shape_.rows, args_.m - row), std::min(shape_.cols, args_.n - col)};
    float* const sums = links_ > 1 ? reinterpret_cast<float*>(sums_.data()) + index * block_floats()
                                   : scratch<float, Scratch::gemm_tile>(block_floats());
    const std::int64_t begin = first_k_block(link), depth = first_k_block(link + 1) - begin;
    if (args_.a_sums != nullptr && col == 0) add_chunk_columns(block, begin, depth, sums + c_floats());
    multiply_chunk(block, depth, packed_left(block, begin, depth), packed_right(block, begin, depth), sums, link > 0);
    if (link + 1 < links_) return;
    const double squares = finish(block, sums);
    if (args_.c_squares != nullptr) squares_[static_cast<std::size_t>(index)] = squares;
  }

  const std::uint16_t* packed_left(const Block& block, std::int64_t begin, std::int64_t depth) const {
    PackedChunk& packed = PackedChunk::of_this_thread();
    std::uint16_t* const left = memory(packed.left, shape_.rows);
    if (packed.matmul == id_ && packed.row == block.row && packed.begin == begin) return left;
    // While 32 x 32 numbers are transposed, the lines of the next 32 x 32 arrive. Zipping the right operand takes too
    // few instructions to gain from that.
    const auto pack_block = [&](const TokenRows& rows, std::int64_t token, std::int64_t col, std::uint16_t* to) {
      if (col + kPanel < block.row + block.rows) prefetch_block(rows, token, col + kPanel);
      pack_left_block(rows, token, col, to);
    };
    pack(a_, block.row, block.rows, begin, depth, pack_block, left);
    packed.matmul = id_;
    packed.row = block.row;
    packed.begin = begin;
    return left;
  }

  const std::uint16_t* packed_right(const Block& block, std::int64_t begin, std::int64_t depth) const {
    std::uint16_t* const right = memory(PackedChunk::of_this_thread().right, shape_.cols);
    pack(b_, block.col, block.cols, begin, depth, pack_zipped_right_block, right);
    return right;
  }

  std::uint16_t* memory(detail::GrowingBuffer& buffer, std::int64_t size) const {
    const std::int64_t elements = size / kPanel * chunk_elements();
    return static_cast<std::uint16_t*>(buffer.at_least(static_cast<std::size_t>(elements) * 2));
  }

  // k block by k block, because that reads along rows.
  template <class PackBlock>
  void pack(const TokenRows& rows, std::int64_t first, std::int64_t count, std::int64_t begin, std::int64_t depth,
            PackBlock pack_block, std::uint16_t* to) const {
    for (std::int64_t k = 0; k < depth; ++k)
      for (std::int64_t c = 0; c < count; c += kPanel)
        pack_block(rows, (begin + k) * kBlock, first + c,
                   to + c / kPanel * chunk_elements() + k * block_elements(args_.type));
  }

  void add_chunk_columns(const Block& block, std::int64_t begin, std::int64_t depth, float* sums) const {
    if (begin == 0) std::fill_n(sums, shape_.rows, 0.0f);
    for (std::int64_t k = 0; k < depth; ++k)
      for (std::int64_t c = 0; c < block.rows; c += kPanel)
        add_columns(a_, (begin + k) * kBlock, block.row + c, sums + c);
  }

  HEARTH_TILES void multiply_chunk(const Block& block, std::int64_t depth, const std::uint16_t* left,
                                   const std::uint16_t* right, float* sums, bool accumulate) const {
    const std::int64_t size = chunk_elements(), row_panels = shape_.rows / kPanel;
    [[maybe_unused]] const Tiles tiles;
    for (std::int64_t j = 0; j < panels_of(block.cols); ++j)
      for (std::int64_t i = 0; i < panels_of(block.rows); ++i) {
        float* const at = sums + (j * row_panels + i) * kPanel * kPanel;
        Tiles::multiply(args_.type, packed_panel(args_.type, left + i * size), right + j * size, depth, at, kPanel,
                        accumulate);
      }
  }

  // Returns the sum of squares of the block, if it is wanted.
  double finish(const Block& block, const float* sums) const {
    float* const c = static_cast<float*>(args_.c) + block.row * args_.ldc + block.col;
    const double squares = unzip({sums, shape_.rows, block.rows, block.cols}, c, args_.ldc,
                                 {args_.accumulate, non_temporal_, args_.c_squares != nullptr});
    if (non_temporal_) finish_stores();
    if (args_.a_sums != nullptr && block.col == 0) {
      float* const to = args_.a_sums + block.row;
      if (!args_.accumulate_a_sums) std::fill_n(to, block.rows, 0.0f);
      add_floats(block.rows, sums + c_floats(), to);
    }
    return squares;
  }

  const GemmArgs& args_;
  TokenRows a_, b_;
  std::int64_t k_blocks_, links_;
  BlockShape shape_;
  std::int64_t col_blocks_;
  bool non_temporal_;
  const std::uint64_t id_ = PackedChunk::next_matmul();
  std::vector<BlockState> blocks_;
  std::vector<double> squares_;  // per block, if they are wanted
  PoolBuffer sums_;              // (blocks, block_floats) f32 if a block has several links
  std::atomic<std::int64_t> open_links_ = 0;
};

}  // namespace hearth::kernels::panels
