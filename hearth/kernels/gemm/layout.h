#pragma once

#include <cstdint>

#include "hearth/base/dtype.h"

namespace hearth::kernels {

// How a matrix (rows, cols) of activations lies in memory.
//   rows    row by row.
//   blocks  in blocks of 32 x 32 numbers, each row by row without gaps: first all blocks of the rows 0 to 31, from left
//           to right, then those of the rows 32 to 63, ... `cols` is a multiple of 32. The memory has whole blocks;
//           what the rows behind the last one hold does not matter. A core reads a block as one stream of
//           memory; 32 separate rows would be 32 streams.
enum class Layout : std::uint8_t { rows, blocks };
inline constexpr std::int64_t kBlockSide = 32;
// Index of an element of a matrix in blocks.
inline std::int64_t index_in_blocks(std::int64_t row, std::int64_t col, std::int64_t cols) {
  const std::int64_t block = row / kBlockSide * (cols / kBlockSide) + col / kBlockSide;
  return (block * kBlockSide + row % kBlockSide) * kBlockSide + col % kBlockSide;
}

// The same numbers in blocks: y from x (rows, cols), row by row. Rows that fill up the last block become zero.
void to_blocks(DType type, std::int64_t rows, std::int64_t cols, const void* x, void* y);

}  // namespace hearth::kernels
