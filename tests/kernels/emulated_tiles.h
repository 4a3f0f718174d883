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
    load_left(left, pitch, next_rows);
    load_right(right);
    multiply_loaded();
  }
  static void multiply_left(const std::uint16_t* left, std::int64_t pitch, std::int64_t next_rows) {
    load_left(left, pitch, next_rows);
    multiply_loaded();
  }
  static void multiply_right(const std::uint16_t* right) {
    load_right(right);
    multiply_loaded();
  }
  static void store(float* to, std::int64_t pitch) {
    for (std::int64_t i = 0; i < 32; ++i) std::copy_n(sums_ + 32 * i, 32, to + i * pitch);
  }

 private:
  static float value(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

  static void load_left(const std::uint16_t* left, std::int64_t pitch, std::int64_t next_rows) {
    for (int m = 0; m < 32; ++m)
      for (int k = 0; k < 32; ++k) left_[32 * m + k] = value(left[m / 16 * next_rows + m % 16 * pitch + k]);
  }
  static void load_right(const std::uint16_t* right) {
    for (int k = 0; k < 32; ++k)
      for (int n = 0; n < 32; ++n) right_[32 * k + n] = value(right[n / 16 * 512 + k / 2 * 32 + 2 * (n % 16) + k % 2]);
  }
  static void multiply_loaded() {
    for (int m = 0; m < 32; ++m)
      for (int k = 0; k < 32; ++k)
        for (int n = 0; n < 32; ++n) sums_[32 * m + n] += left_[32 * m + k] * right_[32 * k + n];
  }

  static inline thread_local float sums_[32 * 32];
  static inline thread_local float left_[32 * 32], right_[32 * 32];  // (rows, k), (k, columns)
  static inline thread_local bool live_ = false;
};

}  // namespace hearth::kernels
