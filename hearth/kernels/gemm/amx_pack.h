#pragma once

#include <cstdint>

#include "hearth/base/dtype.h"
#include "hearth/base/rounding.h"

namespace hearth::kernels::amx {

// The layout of packed operands. A tile is 16 rows of 64 bytes. A tile of the left operand has 16 rows x 32 steps along
// k. A tile of the right operand has 16 pairs along k x 16 columns; the two numbers of a pair are neighbours. A panel
// is 32 rows (left) or columns (right) over the whole of k: two tiles per 32 steps along k, padded with zeros.
inline constexpr std::int64_t kPanel = 32, kBlock = 32;
inline constexpr std::int64_t kTileElements = 512;  // bf16

inline std::int64_t panels_of(std::int64_t size) { return divide_up(size, kPanel); }
inline std::int64_t blocks_of(std::int64_t k) { return divide_up(k, kBlock); }
inline std::int64_t panel_elements(std::int64_t k) { return blocks_of(k) * 2 * kTileElements; }

// The bf16 number that an element becomes: itself, or the high or low part of an fp16 number.
enum class Part { whole, high, low };

// An operand in memory before packing: `size` rows of the left (columns of the right) operand, each `k` long.
struct Operand {
  const void* data;
  bool is_f32;  // to be rounded; otherwise it has the dtype of the matmul
  std::int64_t ld;
  bool k_is_contiguous;  // otherwise elements are contiguous along `size`
  std::int64_t size, k;
  bool non_temporal = false;  // write panels with non-temporal stores; the packing thread then calls finish_packing
};

// Packs panel number `panel` of the operand, k blocks [begin, end).
void pack_left(const Operand& operand, Part part, std::int64_t panel, std::int64_t begin, std::int64_t end,
               std::uint16_t* packed);
void pack_right(const Operand& operand, Part part, std::int64_t panel, std::int64_t begin, std::int64_t end,
                std::uint16_t* packed);
void finish_packing();  // a store fence: makes non-temporal stores visible to other threads

}  // namespace hearth::kernels::amx
