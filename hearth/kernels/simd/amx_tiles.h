#pragma once

#include <immintrin.h>

#include <cstdint>

#include "hearth/kernels/simd/tiles.h"

namespace hearth::kernels::panels {

// Palette 1, whose shape the architecture fixes: eight tiles of 16 rows x 64 bytes.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t bytes_a_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfig) == 64);

// The tile registers of this thread, configured while the object lives. Registers 0 to 3 hold a 32 x 32 block of sums,
// 4 and 5 the left operand, 6 and 7 the right one. The compiler does not know that tile instructions read and write
// memory: the empty `asm` statements keep stores before a tile load, and loads after a tile store, in place.
class AmxTiles {
 public:
  HEARTH_TILES AmxTiles() {
    // static: GCC's intrinsic declares that it reads only the first bytes, so the optimizer would drop the stores to
    // the rest of a local variable.
    static constexpr TileConfig config;
    _tile_loadconfig(&config);
  }
  HEARTH_TILES ~AmxTiles() { _tile_release(); }
  AmxTiles(const AmxTiles&) = delete;
  AmxTiles& operator=(const AmxTiles&) = delete;

  HEARTH_TILES_INLINE static void multiply(DType type, const LeftPanel& left, const std::uint16_t* right,
                                           std::int64_t depth, float* sums, std::int64_t pitch, bool accumulate,
                                           const Wanted& = {}) {
    if (accumulate)
      load(sums, pitch);
    else
      zero();
    if (type == DType::f16)
      multiply_parts(left.data, right, depth);
    else
      multiply_blocks(left, right, depth);
    store(sums, pitch);
  }

 private:
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

  HEARTH_TILES_INLINE static void store(float* sums, std::int64_t pitch) {
    _tile_stored(0, sums, pitch * 4);
    _tile_stored(1, sums + 16, pitch * 4);
    _tile_stored(2, sums + 16 * pitch, pitch * 4);
    _tile_stored(3, sums + 16 * pitch + 16, pitch * 4);
    asm volatile("" ::: "memory");
  }

  HEARTH_TILES_INLINE static void multiply_blocks(const LeftPanel& left, const std::uint16_t* right,
                                                  std::int64_t depth) {
    LeftPanel block = left;
    for (std::int64_t k = 0; k < depth; ++k, block.data += block.next_block, right += 2 * kTileElements)
      step<true, true>(block, right);
  }

  // fp16: low times high parts, high times high, high times low. Each keeps two tiles of the one before, so 12
  // multiplications need 8 loads.
  HEARTH_TILES_INLINE static void multiply_parts(const std::uint16_t* left, const std::uint16_t* right,
                                                 std::int64_t depth) {
    constexpr std::int64_t kLow = 2 * kTileElements, kNext = 4 * kTileElements;
    for (std::int64_t k = 0; k < depth; ++k, left += kNext, right += kNext) {
      step<true, true>({left + kLow, kBlock, kTileElements}, right);
      step<true, false>({left, kBlock, kTileElements}, nullptr);
      step<false, true>({}, right + kLow);
    }
  }

  // Adds a k block to the sums: two left tiles times two right ones. Tiles that are not loaded are those of the step
  // before.
  template <bool loads_left, bool loads_right>
  HEARTH_TILES_INLINE static void step(const LeftPanel& left, const std::uint16_t* right) {
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

}  // namespace hearth::kernels::panels
