#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include "hearth/kernels/simd/tiles.h"

namespace hearth::kernels {

// panels::AmxTiles, by the definition of its instructions.
class EmulatedTiles {
 public:
  EmulatedTiles() { live_ = true; }
  ~EmulatedTiles() { live_ = false; }

  static void multiply(DType type, const panels::LeftPanel& left, const std::uint16_t* right, std::int64_t depth,
                       float* sums, std::int64_t pitch, bool accumulate, const panels::Wanted& = {}) {
    EXPECT_TRUE(live_);
    for (std::int64_t i = 0; i < 32; ++i)
      for (std::int64_t j = 0; j < 32; ++j) sums_[32 * i + j] = accumulate ? sums[i * pitch + j] : 0.0f;
    panels::LeftPanel block = left;
    for (std::int64_t k = 0; k < depth; ++k, block.data += left.next_block, right += panels::block_elements(type)) {
      if (type == DType::f16) {
        constexpr std::int64_t kLow = 2 * panels::kTileElements;
        multiply_block({block.data + kLow, block.pitch, block.next_rows}, right);
        multiply_block(block, right);
        multiply_block(block, right + kLow);
      } else {
        multiply_block(block, right);
      }
    }
    for (std::int64_t i = 0; i < 32; ++i) std::copy_n(sums_ + 32 * i, 32, sums + i * pitch);
  }

 private:
  static float value(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

  static void multiply_block(const panels::LeftPanel& left, const std::uint16_t* right) {
    for (int m = 0; m < 32; ++m)
      for (int k = 0; k < 32; ++k)
        left_[32 * m + k] = value(left.data[m / 16 * left.next_rows + m % 16 * left.pitch + k]);
    for (int k = 0; k < 32; ++k)
      for (int n = 0; n < 32; ++n) right_[32 * k + n] = value(right[n / 16 * 512 + k / 2 * 32 + 2 * (n % 16) + k % 2]);
    for (int m = 0; m < 32; ++m)
      for (int k = 0; k < 32; ++k)
        for (int n = 0; n < 32; ++n) sums_[32 * m + n] += left_[32 * m + k] * right_[32 * k + n];
  }

  static inline thread_local float sums_[32 * 32];
  static inline thread_local float left_[32 * 32], right_[32 * 32];  // (rows, k), (k, columns)
  static inline thread_local bool live_ = false;
};

}  // namespace hearth::kernels
