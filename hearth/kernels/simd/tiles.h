#pragma once

#include <concepts>
#include <cstdint>

#include "hearth/kernels/gemm/panels.h"

namespace hearth::kernels::panels {

// Attributes of functions that call a tile unit. AMX instructions can be inlined only into functions that have them.
#define HEARTH_TILES __attribute__((target("amx-tile,amx-bf16,avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")))
#define HEARTH_TILES_INLINE HEARTH_TILES __attribute__((always_inline))

// 32 rows of a left operand, packed or in place. All distances are in elements.
struct LeftPanel {
  const std::uint16_t* data = nullptr;
  std::int64_t pitch = 0;       // from one row to the next
  std::int64_t next_rows = 0;   // from the tile of rows 0-15 to that of rows 16-31: 16 * pitch
  std::int64_t next_block = 0;  // from one k block to the next
};
constexpr LeftPanel packed_panel(DType type, const std::uint16_t* data) {
  return {data, kBlock, kTileElements, block_elements(type)};
}

// The part of a 32 x 32 block of sums that is wanted, and how many steps of its last k block count. AMX computes the
// whole block with all steps. VectorTiles leaves sums beyond the wanted ones as they are, and does not read steps
// beyond the last pair. A step that does not count is therefore zero in one operand. In the other one it is finite,
// unless it comes from sums that were not wanted.
struct Wanted {
  std::int64_t rows = kPanel, cols = kPanel, last_steps = kBlock;
};

// Hardware that multiplies panels: AMX (AmxTiles), AVX512-BF16 (VectorTiles) or, in tests, an emulation of AMX. While
// an object of the type lives, its thread may call
//   multiply(type, left, right, depth, sums, pitch, accumulate, wanted)
//       sums (32 x 32, f32, rows `pitch` apart) = [sums +] `depth` k blocks of `left` times those of the packed panel
//       at `right`; depth > 0. In fp16, `left` is packed, too.
template <class T>
concept TileUnit = std::default_initializable<T> &&
    requires(LeftPanel left, const std::uint16_t* right, float* sums, Wanted wanted) {
  T::multiply(DType::bf16, left, right, std::int64_t{}, sums, std::int64_t{}, true, wanted);
};

// Packed panels of an operand of dtype `type`, bf16 or f16, each `blocks` k blocks long.
template <DType type>
struct Panels {
  std::uint16_t* data;
  std::int64_t blocks;

  std::uint16_t* at(std::int64_t panel, std::int64_t block) const {
    return data + (panel * blocks + block) * block_elements(type);
  }
  Panels from(std::int64_t panel, std::int64_t block) const { return {at(panel, block), blocks}; }
};

// c = [c +] the matmul of `rows` left and `cols` right panels over `depth` k blocks; `pitch` is that of c. `last` says
// what is wanted of the last panels.
template <TileUnit Tiles, DType type>
HEARTH_TILES void multiply_panels(std::int64_t rows, std::int64_t cols, std::int64_t depth, const Panels<type>& left,
                                  const Panels<type>& right, float* c, std::int64_t pitch, bool accumulate,
                                  const Wanted& last = {}) {
  for (std::int64_t j = 0; j < cols; ++j)
    for (std::int64_t i = 0; i < rows; ++i)
      Tiles::multiply(type, packed_panel(type, left.at(i, 0)), right.at(j, 0), depth,
                      c + i * kPanel * pitch + j * kPanel, pitch, accumulate,
                      {i + 1 < rows ? kPanel : last.rows, j + 1 < cols ? kPanel : last.cols, last.last_steps});
}

}  // namespace hearth::kernels::panels
