#pragma once

#include <cstdint>

#include "hearth/base/dtype.h"
#include "hearth/base/rounding.h"
#include "hearth/kernels/gemm/layout.h"

namespace hearth::kernels::panels {

// The layout of packed operands. A tile is 16 rows of 64 bytes. A tile of the left operand has 16 rows x 32 steps along
// k. A tile of the right operand has 16 pairs along k x 16 columns; the two numbers of a pair are neighbours. A panel
// is 32 rows (left) or columns (right) over the whole of k: two tiles per k block of 32 steps, padded with zeros. An
// fp16 number is the sum of two bf16 numbers, its high and its low part: a k block of fp16 has two tiles of high parts,
// then two of low parts.
inline constexpr std::int64_t kPanel = 32, kBlock = 32;
static_assert(kPanel == kBlockSide && kBlock == kBlockSide);  // activations in blocks are packed left panels
inline constexpr std::int64_t kTileElements = 512;            // bf16

inline std::int64_t panels_of(std::int64_t size) { return divide_up(size, kPanel); }
inline std::int64_t blocks_of(std::int64_t k) { return divide_up(k, kBlock); }
constexpr std::int64_t block_elements(DType type) { return (type == DType::f16 ? 4 : 2) * kTileElements; }
inline std::int64_t panel_elements(DType type, std::int64_t k) { return blocks_of(k) * block_elements(type); }

// An operand in memory before packing: `size` rows of the left (columns of the right) operand, each `k` long.
struct Operand {
  const void* data;
  DType type;   // of the matmul: bf16 or f16
  bool is_f32;  // to be rounded to `type`; otherwise it has that dtype
  std::int64_t ld;
  bool k_is_contiguous;  // otherwise elements are contiguous along `size`
  std::int64_t size, k;
  bool non_temporal = false;  // write panels with non-temporal stores; the thread then calls finish_stores
};

// Packs panel number `panel` of the operand, k blocks [begin, end).
void pack_left(const Operand& operand, std::int64_t panel, std::int64_t begin, std::int64_t end, std::uint16_t* packed);
void pack_right(const Operand& operand, std::int64_t panel, std::int64_t begin, std::int64_t end,
                std::uint16_t* packed);
void finish_stores();  // a store fence: makes non-temporal stores visible to other threads

// Activations (tokens, cols), operands of sums over tokens.
struct TokenRows {
  const std::uint16_t* data;
  DType type;  // bf16 or f16
  std::int64_t ld, tokens, cols;
  Layout layout = Layout::rows;

  // The numbers from (token, col) on, both multiples of 32: where they begin, and how far rows are apart.
  const std::uint16_t* block(std::int64_t token, std::int64_t col) const {
    return data + (layout == Layout::blocks ? index_in_blocks(token, col, cols) : token * ld + col);
  }
  std::int64_t block_pitch() const { return layout == Layout::blocks ? kBlockSide : ld; }
};

// One k block of one panel: 32 tokens x 32 columns, zeros beyond the last token and column. A right panel is zipped:
// interleaving two rows works within 128-bit lanes, so columns come out permuted, which spares half of the work.
void pack_left_block(const TokenRows& rows, std::int64_t token, std::int64_t col, std::uint16_t* to);
void pack_zipped_right_block(const TokenRows& rows, std::int64_t token, std::int64_t col, std::uint16_t* to);
// Asks for the lines of such a block, which will be packed soon.
void prefetch_block(const TokenRows& rows, std::int64_t token, std::int64_t col);

// Adds the columns of such a block: sums (32) += the numbers of each column.
void add_columns(const TokenRows& rows, std::int64_t token, std::int64_t col, float* sums);

void add_floats(std::int64_t count, const float* x, float* sums);  // sums += x

// The column that a column of a zipped panel holds.
inline std::int64_t zipped_column(std::int64_t column) {
  const std::int64_t half = column % kPanel / 16;
  return column / kPanel * kPanel + column % 16 / 4 * 8 + half * 4 + column % 4;
}
// Zipped sums (rows, cols) in blocks of 32 x 32, each row by row without gaps: first the blocks of columns 0 to 31,
// from top to bottom, then those of columns 32 to 63, ... The memory has whole blocks, for `memory_rows` rows.
struct ZippedSums {
  const float* data;
  std::int64_t memory_rows, rows, cols;
};
struct UnzipOptions {
  bool accumulate = false;    // add to what is there
  bool non_temporal = false;  // rows begin at cache lines; the thread then calls finish_stores
  bool squares = false;       // return the sum of squares of what was stored, in f64
};
// to (rows, cols), rows `ld` apart, becomes the sums with their columns in order.
double unzip(ZippedSums sums, float* to, std::int64_t ld, UnzipOptions options);

}  // namespace hearth::kernels::panels
