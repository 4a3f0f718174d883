// The tile unit of AVX512-BF16 against the emulation of AMX, for every part of a block that can be wanted.

#include "hearth/kernels/simd/vector_tiles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "hearth/cpu/isa.h"
#include "tests/kernels/buffers.h"
#include "tests/kernels/emulated_tiles.h"

namespace hearth::kernels {
namespace {

using panels::kBlock;
using panels::kPanel;
using panels::kTileElements;
using panels::LeftPanel;
using panels::Wanted;

constexpr std::int64_t kPitch = kPanel + 7;  // of the sums

// What surrounds the block and what is not wanted of it may be anything, but writing outside of the block is an error.
std::vector<float> sums_before() {
  std::vector<float> sums((kPanel + 1) * kPitch, std::numeric_limits<float>::quiet_NaN());
  for (std::int64_t i = 0; i < kPanel; ++i)
    for (std::int64_t j = 0; j < kPanel; ++j) sums[i * kPitch + j] = static_cast<float>(i - j) / 8;
  return sums;
}

void expect_wanted(const LeftPanel& left, Buffer& right, std::int64_t depth, bool accumulate, const Wanted& wanted) {
  std::vector<float> got = sums_before(), want = got;
  const auto* const packed = static_cast<const std::uint16_t*>(right.data());
  panels::VectorTiles::multiply(DType::bf16, left, packed, depth, got.data(), kPitch, accumulate, wanted);
  EmulatedTiles tiles;
  tiles.multiply(DType::bf16, left, packed, depth, want.data(), kPitch, accumulate, wanted);
  for (std::int64_t i = 0; i <= kPanel; ++i)
    for (std::int64_t j = 0; j < kPitch; ++j) {
      const float value = got[i * kPitch + j];
      if (i < wanted.rows && j < wanted.cols) {
        ASSERT_NEAR(value, want[i * kPitch + j], 1e-4)
            << i << ", " << j << " of " << wanted.rows << ", " << wanted.cols;
      } else if (i >= kPanel || j >= kPanel) {
        ASSERT_TRUE(std::isnan(value)) << "outside of the block, at " << i << ", " << j;
      }
    }
}

class VectorTiles : public testing::Test {
  void SetUp() override {
    if (cpu::isa() < cpu::Isa::avx512_bf16) GTEST_SKIP() << "needs AVX512-BF16";
  }
};

TEST_F(VectorTiles, EveryNumberOfRowsAndColumnsOfPackedPanels) {
  Buffer left(DType::bf16, 2 * 2 * kTileElements, 1), right(DType::bf16, 2 * 2 * kTileElements, 2);
  const LeftPanel packed = panels::packed_panel(DType::bf16, static_cast<const std::uint16_t*>(left.data()));
  for (std::int64_t rows = 1; rows <= kPanel; ++rows)
    for (std::int64_t cols = 1; cols <= kPanel; ++cols)
      for (const std::int64_t depth : {1, 2})
        expect_wanted(packed, right, depth, (rows + cols) % 2 == 0, {rows, cols, kBlock});
}

TEST_F(VectorTiles, EveryNumberOfStepsOfTheLastBlock) {
  for (std::int64_t steps = 1; steps <= kBlock; ++steps)
    for (const std::int64_t depth : {1, 3}) {
      // Pairs behind the last step that counts: in packed panels it is 0, others are NaN and must not be read.
      Buffer left(DType::bf16, depth * 2 * kTileElements, 1), right(DType::bf16, depth * 2 * kTileElements, 2);
      Buffer emulated_left = left;
      for (std::int64_t row = 0; row < kPanel; ++row)
        for (std::int64_t step = steps; step < kBlock; ++step) {
          const std::int64_t at = (depth - 1) * 2 * kTileElements + row * kBlock + step;
          left.set(at, step < (steps + 1) / 2 * 2 ? 0 : std::numeric_limits<float>::quiet_NaN());
          emulated_left.set(at, 0);
        }
      std::vector<float> got = sums_before(), want = got;
      const auto* const packed = static_cast<const std::uint16_t*>(right.data());
      const auto panel = [](Buffer& buffer) {
        return panels::packed_panel(DType::bf16, static_cast<const std::uint16_t*>(buffer.data()));
      };
      panels::VectorTiles::multiply(DType::bf16, panel(left), packed, depth, got.data(), kPitch, false,
                                    {kPanel, kPanel, steps});
      EmulatedTiles tiles;
      tiles.multiply(DType::bf16, panel(emulated_left), packed, depth, want.data(), kPitch, false);
      for (std::int64_t i = 0; i < kPanel; ++i)
        for (std::int64_t j = 0; j < kPanel; ++j) ASSERT_NEAR(got[i * kPitch + j], want[i * kPitch + j], 1e-4) << steps;
    }
}

TEST_F(VectorTiles, RowsInPlace) {
  constexpr std::int64_t kLd = 3 * kBlock + 5;
  Buffer left(DType::bf16, kPanel * kLd, 1), right(DType::bf16, 3 * 2 * kTileElements, 2);
  const LeftPanel rows{static_cast<const std::uint16_t*>(left.data()), kLd, 16 * kLd, kBlock};
  for (const bool accumulate : {false, true}) expect_wanted(rows, right, 3, accumulate, {});
}

}  // namespace
}  // namespace hearth::kernels
