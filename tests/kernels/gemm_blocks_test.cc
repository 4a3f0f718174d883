// Matmuls of matrices in blocks (Layout::blocks) against the same ones in rows, bit for bit.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "hearth/base/rounding.h"
#include "hearth/kernels/gemm/gemm.h"
#include "hearth/kernels/gemm/panel_product-inl.h"
#include "hearth/kernels/simd/amx_tiles.h"
#include "hearth/kernels/simd/vector_tiles.h"
#include "tests/kernels/buffers.h"
#include "tests/kernels/emulated_tiles.h"

namespace hearth::kernels {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Every tile unit of the processor, and the emulated one.
using RunMatmuls = void (*)(std::span<const GemmArgs>);
std::vector<RunMatmuls> runs() {
  std::vector<RunMatmuls> runs{panels::run_together<EmulatedTiles>, panels::run_together<panels::VectorTiles>};
  if (cpu::isa() >= cpu::Isa::amx) runs.push_back(panels::run_together<panels::AmxTiles>);
  return runs;
}

// A matrix of bf16 in both layouts. The rows that fill up the last block are NaN: nothing may use them.
struct Both {
  Buffer rows, blocks;
  std::int64_t count, cols;

  Both(std::int64_t row_count, std::int64_t col_count, std::uint32_t seed)
      : rows(DType::bf16, row_count * col_count, seed),
        blocks(DType::bf16, round_up(row_count, kBlockSide) * col_count),
        count(row_count),
        cols(col_count) {
    for (std::int64_t i = 0; i < blocks.size(); ++i) blocks.set(i, kNaN);
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t j = 0; j < cols; ++j) blocks.set(index_in_blocks(i, j, cols), rows.at(i * cols + j));
  }

  void expect_equal(const char* what) const {
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t j = 0; j < cols; ++j)
        ASSERT_EQ(blocks.at(index_in_blocks(i, j, cols)), rows.at(i * cols + j)) << what << " at " << i << ", " << j;
    EXPECT_TRUE(blocks.margins_intact()) << what;
  }
};

GemmArgs matmul(std::int64_t m, std::int64_t n, std::int64_t k) {
  GemmArgs args;
  args.m = m;
  args.n = n;
  args.k = k;
  args.type = args.c_type = DType::bf16;
  args.lda = k;
  args.ldb = args.ldc = n;
  return args;
}

class GemmBlocks : public testing::Test {
  void SetUp() override {
    if (cpu::isa() < cpu::Isa::avx512_bf16) GTEST_SKIP() << "packing for tiles needs AVX512-BF16";
  }
};

constexpr std::int64_t kRowCounts[] = {1, 31, 32, 33, 70, 300};

TEST(ToBlocks, CopiesRowsAndFillsUpWithZeros) {
  for (const DType type : {DType::bf16, DType::f32})
    for (const std::int64_t rows : {0, 1, 32, 70}) {
      constexpr std::int64_t cols = 96;
      Buffer x(type, rows * cols, 1), y(type, round_up(rows, kBlockSide) * cols, 2);
      to_blocks(type, rows, cols, x.data(), y.data());
      for (std::int64_t i = 0; i < round_up(rows, kBlockSide); ++i)
        for (std::int64_t j = 0; j < cols; ++j)
          ASSERT_EQ(y.at(index_in_blocks(i, j, cols)), i < rows ? x.at(i * cols + j) : 0) << rows << ": " << i << j;
      EXPECT_TRUE(y.margins_intact());
    }
}

// 4,160 terms are summed in two stretches.
TEST_F(GemmBlocks, ALinearLayerWithAnActivationHasTheSameBits) {
  constexpr std::int64_t n = 160;
  for (const RunMatmuls run : runs())
    for (const auto& [m, k] : {std::pair{1, 64}, {31, 64}, {32, 64}, {33, 64}, {70, 64}, {300, 64}, {40, 4160}}) {
      Both x(m, k, 1), y(m, n, 2), before(m, n, 3);
      Buffer weight(DType::bf16, k * n, 4), bias(DType::f32, n, 5);
      GemmArgs args = matmul(m, n, k);
      args.b = weight.data();
      args.bias = bias.floats();
      args.activation = Activation::gelu;
      args.a = x.rows.data();
      args.c = y.rows.data();
      args.before_activation = before.rows.data();
      run({&args, 1});
      args.a = x.blocks.data();
      args.c = y.blocks.data();
      args.before_activation = before.blocks.data();
      args.a_layout = args.c_layout = Layout::blocks;
      run({&args, 1});
      y.expect_equal("the output");
      before.expect_equal("the activation's input");
    }
}

// Rows may become blocks and blocks rows. The activation's output, too, has the same bits.
TEST_F(GemmBlocks, TheGradientThroughAnActivationHasTheSameBits) {
  constexpr std::int64_t n = 96, k = 32;
  for (const RunMatmuls run : runs())
    for (const std::int64_t m : kRowCounts) {
      Both dy(m, k, 1), dx(m, n, 2), at(m, n, 3), output(m, n, 5);
      Buffer weight(DType::bf16, k * n, 4);
      GemmArgs args = matmul(m, n, k);
      args.a = dy.rows.data();
      args.b = weight.data();
      args.activation = Activation::gelu;
      args.c = dx.rows.data();
      args.slope_at = at.rows.data();
      args.activated = output.rows.data();
      run({&args, 1});
      args.c = dx.blocks.data();
      args.slope_at = at.blocks.data();
      args.activated = output.blocks.data();
      args.c_layout = Layout::blocks;
      run({&args, 1});
      dx.expect_equal("rows to blocks");
      output.expect_equal("the activation's output");

      args.a = dy.blocks.data();
      args.a_layout = Layout::blocks;
      args.c_layout = Layout::rows;
      Buffer result(DType::bf16, m * n);
      args.c = result.data();
      args.slope_at = at.rows.data();
      args.activated = nullptr;
      run({&args, 1});
      EXPECT_EQ(result, dx.rows) << "blocks to rows, " << m << " rows";
    }
}

TEST_F(GemmBlocks, AnInputGradientThatAddsToAnotherHasTheSameBits) {
  constexpr std::int64_t n = 96, k = 64;
  for (const RunMatmuls run : runs())
    for (const std::int64_t m : kRowCounts) {
      Both dy(m, k, 1);
      Buffer weight(DType::bf16, k * n, 4), from_rows(DType::bf16, m * n, 5), from_blocks(DType::bf16, m * n, 5);
      GemmArgs args = matmul(m, n, k);
      args.accumulate = true;
      args.b = weight.data();
      args.a = dy.rows.data();
      args.c = from_rows.data();
      run({&args, 1});
      args.a = dy.blocks.data();
      args.a_layout = Layout::blocks;
      args.c = from_blocks.data();
      run({&args, 1});
      EXPECT_EQ(from_blocks, from_rows) << m << " rows";
    }
}

TEST_F(GemmBlocks, AWeightGradientHasTheSameBits) {
  constexpr std::int64_t m = 96, n = 224;
  for (const RunMatmuls run : runs())
    for (const std::int64_t tokens : {1, 32, 45, 800}) {
      Both dy(tokens, m, 1), x(tokens, n, 2);
      const auto gradient = [&](Layout a_layout, Layout b_layout, bool accumulate = false) {
        Buffer dw(DType::f32, m * n + m, 7);  // and the sums of dy
        GemmArgs args = matmul(m, n, tokens);
        args.a_transposed = true;
        args.a = a_layout == Layout::blocks ? dy.blocks.data() : dy.rows.data();
        args.lda = m;
        args.a_layout = a_layout;
        args.b = b_layout == Layout::blocks ? x.blocks.data() : x.rows.data();
        args.b_layout = b_layout;
        args.c_type = DType::f32;
        args.c = dw.data();
        args.a_sums = dw.floats() + m * n;
        args.accumulate = args.accumulate_a_sums = accumulate;
        run({&args, 1});
        return dw;
      };
      const Buffer expected = gradient(Layout::rows, Layout::rows);
      EXPECT_EQ(gradient(Layout::blocks, Layout::rows), expected) << tokens;
      EXPECT_EQ(gradient(Layout::rows, Layout::blocks), expected) << tokens;
      EXPECT_EQ(gradient(Layout::blocks, Layout::blocks), expected) << tokens;
      EXPECT_EQ(gradient(Layout::blocks, Layout::blocks, true), gradient(Layout::rows, Layout::rows, true)) << tokens;
    }
}

}  // namespace
}  // namespace hearth::kernels
