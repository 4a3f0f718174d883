#pragma once

#include <cstdint>

#include "hearth/base/dtype.h"

namespace hearth::kernels::amx {

// A tile holds 16 rows of 64 bytes. The left operand's tile is 16 rows x 32 of k; the right operand's is 16 pairs of
// k x 16 columns, the two of a pair side by side. A panel is 32 rows (or columns) of an operand over its whole k: for
// every 32 of k two tiles, one after the other, then zeros up to whole tiles.
inline constexpr std::int64_t kPanel = 32, kBlock = 32;
inline constexpr std::int64_t kTileElements = 512;  // bf16

inline std::int64_t panels_of(std::int64_t size) { return (size + kPanel - 1) / kPanel; }
inline std::int64_t blocks_of(std::int64_t k) { return (k + kBlock - 1) / kBlock; }
inline std::int64_t panel_elements(std::int64_t k) { return blocks_of(k) * 2 * kTileElements; }

// Which bf16 number an element becomes: itself, or the high or low part of an fp16 number.
enum class Part { whole, high, low };

// An operand as it lies in memory: `size` rows of the left (columns of the right) operand, each `k` long.
struct Operand {
  const void* data;
  bool is_f32;  // to be rounded; else it is of the product's format
  std::int64_t ld;
  bool k_is_contiguous;  // else `size` runs along memory and k across
  std::int64_t size, k;
  bool past_cache = false;  // where the panels go; whoever packs them calls finish_packing
};

// Panel number `panel` of the operand, over the blocks [begin, end) of k.
void pack_left(const Operand& operand, Part part, std::int64_t panel, std::int64_t begin, std::int64_t end,
               std::uint16_t* packed);
void pack_right(const Operand& operand, Part part, std::int64_t panel, std::int64_t begin, std::int64_t end,
                std::uint16_t* packed);
void finish_packing();

}  // namespace hearth::kernels::amx
