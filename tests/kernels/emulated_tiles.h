#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace hearth::kernels {

// amx::Tiles, by the definition of its instructions.
class EmulatedTiles {
 public:
  EmulatedTiles() { live_ = true; }
  ~EmulatedTiles() { live_ = false; }

  static void zero() {
    EXPECT_TRUE(live_);
    std::ranges::fill(sums_, 0.0f);
  }
  static void load(const float* from, std::int64_t pitch) {
    EXPECT_TRUE(live_);
    for (std::int64_t i = 0; i < 32; ++i) std::copy_n(from + i * pitch, 32, sums_ + 32 * i);
  }
  static void multiply(const std::uint16_t* left, std::int64_t pitch, std::int64_t next_rows,
                       const std::uint16_t* right) {
    for (int tile_row = 0; tile_row < 2; ++tile_row)
      for (int tile_col = 0; tile_col < 2; ++tile_col)
        for (int m = 0; m < 16; ++m)
          for (int k = 0; k < 16; ++k)
            for (int n = 0; n < 16; ++n) {
              const std::uint16_t* a = left + tile_row * next_rows + m * pitch + 2 * k;
              const std::uint16_t* b = right + tile_col * 512 + k * 32 + 2 * n;
              float& sum = sums_[(tile_row * 16 + m) * 32 + tile_col * 16 + n];
              sum += value(a[0]) * value(b[0]);
              sum += value(a[1]) * value(b[1]);
            }
  }
  static void store(float* to, std::int64_t pitch) {
    for (std::int64_t i = 0; i < 32; ++i) std::copy_n(sums_ + 32 * i, 32, to + i * pitch);
  }

 private:
  static float value(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

  static inline thread_local float sums_[32 * 32];
  static inline thread_local bool live_ = false;
};

}  // namespace hearth::kernels
