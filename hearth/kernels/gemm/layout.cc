#include "hearth/kernels/gemm/layout.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "hearth/base/rounding.h"
#include "hearth/cpu/parallel.h"

namespace hearth::kernels {

void to_blocks(DType type, std::int64_t rows, std::int64_t cols, const void* x, void* y) {
  const std::size_t size = size_of(type), block_row = kBlockSide * size;
  const auto at = [&](const void* base, std::int64_t index) {
    return const_cast<std::byte*>(static_cast<const std::byte*>(base)) + static_cast<std::size_t>(index) * size;
  };
  cpu::parallel_chunks(round_up(rows, kBlockSide), kBlockSide, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row)
      for (std::int64_t col = 0; col < cols; col += kBlockSide) {
        std::byte* const to = at(y, index_in_blocks(row, col, cols));
        if (row < rows)
          std::memcpy(to, at(x, row * cols + col), block_row);
        else
          std::memset(to, 0, block_row);
      }
  });
}

}  // namespace hearth::kernels
