// Matmuls that sum over tokens: A is transposed, C is the gradient of a weight.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "hearth/base/rounding.h"
#include "hearth/cpu/isa.h"
#include "hearth/cpu/parallel.h"
#include "hearth/kernels/gemm/gemm.h"
#include "hearth/kernels/gemm/panel_product-inl.h"
#include "tests/kernels/buffers.h"
#include "tests/kernels/emulated_tiles.h"
#include "tests/kernels/gemm_operands.h"

namespace hearth::kernels {
namespace {

// A weight gradient with the sums of A, beside another matmul.
void expect_sums_over_tokens(DType type, Size size, const std::vector<GemmImpl>& impls) {
  Operands one(type, size, true, false), two(type, {size.k, size.m, 70}, false, true);
  const Sums sums = one.sums(), other_sums = two.sums();
  for (const GemmImpl& impl : impls)
    for (const bool accumulate : {false, true}) {
      Matrix c(DType::f32, size.m, size.n, 3), other(type, two.size.m, two.size.n, 4);
      const Matrix before = c;
      Buffer a_sums(DType::f32, size.m, 5);
      const Buffer a_sums_before = a_sums;
      std::array matmuls{one.args(), two.args()};
      matmuls[0].c = c.data();
      matmuls[0].ldc = c.ld();
      matmuls[0].accumulate = matmuls[0].accumulate_a_sums = accumulate;
      matmuls[0].a_sums = a_sums.floats();
      matmuls[1].c_type = type;
      matmuls[1].c = other.data();
      matmuls[1].ldc = other.ld();
      gemm_with(impl, matmuls);

      expect_result(c, size, sums, term_error(impl, type), DType::f32, one.describe(impl),
                    [&](std::int64_t i, std::int64_t j) {
                      return (accumulate ? before.at(i, j) : 0.0) + sums.value[i * size.n + j];
                    });
      expect_result(other, two.size, other_sums, term_error(impl, type), type, two.describe(impl),
                    [&](std::int64_t i, std::int64_t j) { return other_sums.value[i * two.size.n + j]; });
      EXPECT_TRUE(a_sums.margins_intact());
      for (std::int64_t i = 0; i < size.m; ++i) {
        double sum = accumulate ? a_sums_before.at(i) : 0;
        for (std::int64_t k = 0; k < size.k; ++k) sum += one.a.at(k, i);
        ASSERT_NEAR(a_sums.at(i), sum, 1e-4) << one.describe(impl) << " at " << i;
      }
    }
}

// Around the edges of blocks, in one chunk and in several.
TEST(WeightGradient, SumsOverTokensAreRightTogether) {
  const OneThread one_thread;
  for (const DType type : kFormats)
    for (const Size size : {Size{193, 31, 64}, Size{191, 200, 1}, Size{385, 2, 780}, Size{32, 225, 1091}})
      expect_sums_over_tokens(type, size, impls_for(type, size));
}

// Blocks of C on tiles are 192 x 192 (the first two sizes), 192 x 96 or 96 x 96; the last ones of a row and a column
// are smaller.
TEST(WeightGradient, WeightGradientsAreRightInBlocksOfEachShape) {
  if (cpu::isa() < cpu::Isa::avx512_bf16) GTEST_SKIP() << "packing for tiles needs AVX512-BF16";
  for (const DType type : {DType::bf16, DType::f16})
    for (const Size size : {Size{20, 4417, 780}, Size{1153, 1000, 5}, Size{20, 2209, 780}, Size{97, 100, 780}})
      expect_sums_over_tokens(type, size, tile_impls(type));
}

double sum_of_squares(const Matrix& c, Size size) {
  double sum = 0;
  for (std::int64_t i = 0; i < size.m; ++i)
    for (std::int64_t j = 0; j < size.n; ++j) sum += double{c.at(i, j)} * double{c.at(i, j)};
  return sum;
}

TEST(WeightGradient, EveryImplementationSumsTheSquaresOfAWeightGradient) {
  const OneThread one_thread;
  for (const DType type : kFormats)
    for (const Size size :
         {Size{1, 1, 1}, Size{193, 31, 64}, Size{300, 270, 20}, Size{17, 205, 780}, Size{260, 3, 0}, Size{0, 5, 4}})
      for (const GemmImpl& impl : impls_for(type, size))
        for (const bool accumulate : {false, true}) {
          Operands one(type, size, true, false), two(type, {size.k, 40, size.m}, false, true);
          Matrix c(DType::f32, size.m, size.n, 3), other(DType::f32, two.size.m, two.size.n, 4);
          double squares = kNaN;
          std::array matmuls{two.args(), one.args()};
          matmuls[0].c = other.data();
          matmuls[0].ldc = other.ld();
          matmuls[1].c = c.data();
          matmuls[1].ldc = c.ld();
          matmuls[1].accumulate = accumulate;
          matmuls[1].c_squares = &squares;
          gemm_with(impl, matmuls);
          const double expected = sum_of_squares(c, size);
          EXPECT_NEAR(squares, expected, 1e-12 * expected) << one.describe(impl) << (accumulate ? " accumulated" : "");
        }
}

TEST(WeightGradient, SquaresShowANotANumber) {
  for (const DType type : kFormats)
    for (const GemmImpl& impl : impls_for(type, {40, 20, 32}))
      for (const float wrong : {kNaN, std::numeric_limits<float>::infinity()}) {
        Operands operands(type, {40, 20, 32}, true, false);
        operands.b.buffer().set(31 * operands.b.ld() + 19, wrong);
        Matrix c(DType::f32, 40, 20, 3);
        double squares = 0;
        GemmArgs args = operands.args();
        args.c = c.data();
        args.ldc = c.ld();
        args.c_squares = &squares;
        gemm_with(impl, {&args, 1});
        EXPECT_FALSE(std::isfinite(squares)) << operands.describe(impl);
      }
}

// C on whole cache lines and beside them, with a last column inside a line.
TEST(WeightGradient, AWeightGradientWrittenPastTheCachesHasTheSameBits) {
  if (cpu::isa() < cpu::Isa::avx512_bf16) GTEST_SKIP() << "packing for tiles needs AVX512-BF16";
  for (const auto& [type, size] :
       {std::pair{DType::bf16, Size{40, 64, 50}}, std::pair{DType::bf16, Size{70, 1000, 1100}},
        std::pair{DType::f16, Size{200, 205, 33}}, std::pair{DType::bf16, Size{3, 1, 2}}}) {
    Operands operands(type, size, true, false);
    for (const std::int64_t begin : {0, 15})  // a Buffer begins one element after a line
      for (const std::int64_t ld : {round_up(size.n, std::int64_t{16}), size.n + 5})
        for (const bool accumulate : {false, true}) {
          const auto run = [&, &size = size](bool non_temporal) {
            Buffer c(DType::f32, begin + size.m * ld, 3);
            GemmArgs args = operands.args();
            args.c = c.floats() + begin;
            args.ldc = ld;
            args.accumulate = accumulate;
            args.non_temporal = non_temporal;
            panels::run_together<EmulatedTiles>({&args, 1});
            return c;
          };
          const Buffer c = run(true);
          EXPECT_TRUE(c == run(false)) << size.m << ", " << size.n << ", " << size.k << ", from " << begin << ", ld "
                                       << ld << (accumulate ? ", accumulated" : "");
          EXPECT_TRUE(c.margins_intact());
        }
  }
}

// One block and many threads: most tasks find it held and leave their link to the thread that holds it.
TEST(WeightGradient, EveryChunkOfAWeightGradientIsAdded) {
  if (cpu::isa() < cpu::Isa::avx512_bf16) GTEST_SKIP() << "packing for tiles needs AVX512-BF16";
  Operands operands(DType::bf16, {20, 30, 4000}, true, false);
  const Sums sums = operands.sums();
  cpu::set_num_threads(16);
  for (int round = 0; round < 50; ++round) {
    Matrix c(DType::f32, operands.size.m, operands.size.n, 3);
    c.fill(kNaN);
    GemmArgs args = operands.args();
    args.c = c.data();
    args.ldc = c.ld();
    panels::run_together<EmulatedTiles>({&args, 1});
    expect_result(c, operands.size, sums, 1e-6, DType::f32, fmt::format("round {}", round),
                  [&](std::int64_t i, std::int64_t j) { return sums.value[i * operands.size.n + j]; });
  }
  cpu::set_num_threads(0);
}

}  // namespace
}  // namespace hearth::kernels
