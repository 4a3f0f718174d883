#pragma once

#include <immintrin.h>

#include <cstdint>

#include "hearth/kernels/gemm/amx_pack.h"

namespace hearth::kernels::amx {

// Palette 1, whose shape the architecture fixes: eight tiles of 16 rows x 64 bytes.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t bytes_a_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfig) == 64);

// Attributes of functions with tile instructions. They can be inlined only into functions with the same attributes.
#define HEARTH_TILES __attribute__((target("amx-tile,amx-bf16,avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")))
#define HEARTH_TILES_INLINE HEARTH_TILES __attribute__((always_inline))

// The tile registers of this thread, configured while the object lives. Registers 0 to 3 hold a 32 x 32 block of sums,
// 4 and 5 the left operand, 6 and 7 the right one. The compiler does not know that tile instructions read and write
// memory: the empty `asm` statements keep stores before a tile load, and loads after a tile store, in place.
class Tiles {
 public:
  HEARTH_TILES Tiles() {
    // static: GCC's intrinsic declares that it reads only the first bytes, so the optimizer would drop the stores to
    // the rest of a local variable.
    static constexpr TileConfig config;
    _tile_loadconfig(&config);
  }
  HEARTH_TILES ~Tiles() { _tile_release(); }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;

  HEARTH_TILES_INLINE static void zero() {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    asm volatile("" ::: "memory");
  }

  HEARTH_TILES_INLINE static void load(const float* sums, std::int64_t pitch) {
    asm volatile("" ::: "memory");
    _tile_loadd(0, sums, pitch * 4);
    _tile_loadd(1, sums + 16, pitch * 4);
    _tile_loadd(2, sums + 16 * pitch, pitch * 4);
    _tile_loadd(3, sums + 16 * pitch + 16, pitch * 4);
  }

  // Adds one k block to the sums: two left tiles (rows `pitch` elements apart, the second tile `next_rows` elements
  // after the first) times two tiles of the right panel.
  HEARTH_TILES_INLINE static void multiply(const std::uint16_t* left, std::int64_t pitch, std::int64_t next_rows,
                                           const std::uint16_t* right) {
    step<true, true>({left, pitch, next_rows}, right);
  }
  // The same with other left tiles and the right ones of the multiplication before, and the other way round.
  HEARTH_TILES_INLINE static void multiply_left(const std::uint16_t* left, std::int64_t pitch, std::int64_t next_rows) {
    step<true, false>({left, pitch, next_rows}, nullptr);
  }
  HEARTH_TILES_INLINE static void multiply_right(const std::uint16_t* right) { step<false, true>({}, right); }

  HEARTH_TILES_INLINE static void store(float* sums, std::int64_t pitch) {
    _tile_stored(0, sums, pitch * 4);
    _tile_stored(1, sums + 16, pitch * 4);
    _tile_stored(2, sums + 16 * pitch, pitch * 4);
    _tile_stored(3, sums + 16 * pitch + 16, pitch * 4);
    asm volatile("" ::: "memory");
  }

 private:
  struct Left {
    const std::uint16_t* data = nullptr;
    std::int64_t pitch = 0, next_rows = 0;
  };

  template <bool loads_left, bool loads_right>
  HEARTH_TILES_INLINE static void step(Left left, const std::uint16_t* right) {
    if constexpr (loads_right) {
      _tile_loadd(6, right, 64);
      spread_out();
    }
    if constexpr (loads_left) {
      _tile_loadd(4, left.data, left.pitch * 2);
      spread_out();
    }
    _tile_dpbf16ps(0, 4, 6);
    spread_out();
    if constexpr (loads_right) {
      _tile_loadd(7, right + kTileElements, 64);
      spread_out();
    }
    _tile_dpbf16ps(1, 4, 7);
    spread_out();
    if constexpr (loads_left) {
      _tile_loadd(5, left.data + left.next_rows, left.pitch * 2);
      spread_out();
    }
    _tile_dpbf16ps(2, 5, 6);
    spread_out();
    _tile_dpbf16ps(3, 5, 7);
    spread_out();
  }

  // When another hyper-thread is busy on the same core, tile instructions that follow each other closely stall. Twelve
  // nops after each make the loop 1.6 times as fast there and cost nothing on a core that is otherwise idle
  // (docs/performance-steps.md, "The tile loop on busy cores").
  HEARTH_TILES_INLINE static void spread_out() { asm volatile(".rept 12\n\tnop\n\t.endr"); }
};

// Adds the product of two packed panels of fp16 over `depth` k blocks to the sums: low times high parts, high times
// high, high times low. Each keeps two tiles of the one before, so 12 multiplications need 8 loads.
template <class AnyTiles>
HEARTH_TILES_INLINE inline void multiply_parts(const std::uint16_t* left, const std::uint16_t* right,
                                               std::int64_t depth) {
  constexpr std::int64_t kLow = 2 * kTileElements, kNext = 4 * kTileElements;
  for (std::int64_t k = 0; k < depth; ++k, left += kNext, right += kNext) {
    AnyTiles::multiply(left + kLow, kBlock, kTileElements, right);
    AnyTiles::multiply_left(left, kBlock, kTileElements);
    AnyTiles::multiply_right(right + kLow);
  }
}

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

// c = [c +] the matmul of `rows` left and `cols` right panels over `depth` k blocks; `pitch` is that of c.
template <class AnyTiles, DType type>
HEARTH_TILES void multiply_panels(std::int64_t rows, std::int64_t cols, std::int64_t depth, const Panels<type>& left,
                                  const Panels<type>& right, float* c, std::int64_t pitch, bool accumulate) {
  for (std::int64_t j = 0; j < cols; ++j)
    for (std::int64_t i = 0; i < rows; ++i) {
      float* sums = c + i * kPanel * pitch + j * kPanel;
      if (accumulate)
        AnyTiles::load(sums, pitch);
      else
        AnyTiles::zero();
      if constexpr (type == DType::f16)
        multiply_parts<AnyTiles>(left.at(i, 0), right.at(j, 0), depth);
      else
        for (std::int64_t k = 0; k < depth; ++k)
          AnyTiles::multiply(left.at(i, k), kBlock, kTileElements, right.at(j, k));
      AnyTiles::store(sums, pitch);
    }
}

}  // namespace hearth::kernels::amx
