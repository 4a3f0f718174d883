// Plain matmuls, packed weights, bits for any number of threads, and the choice of the implementation.

#include "hearth/kernels/gemm/gemm.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

#include "hearth/cpu/isa.h"
#include "hearth/cpu/memory.h"
#include "hearth/kernels/gemm/onednn.h"
#include "hearth/kernels/gemm/panel_product-inl.h"
#include "hearth/kernels/simd/vector_tiles.h"
#include "tests/kernels/buffers.h"
#include "tests/kernels/emulated_tiles.h"
#include "tests/kernels/gemm_operands.h"

namespace hearth::kernels {
namespace {

void expect_plain_product(Operands operands) {
  const Sums sums = operands.sums();
  for (const GemmImpl& impl : impls_for(operands.type, operands.size)) {
    for (const bool accumulate : {false, true}) {
      Matrix c(DType::f32, operands.size.m, operands.size.n, 3);
      if (!accumulate) c.fill(kNaN);
      const Matrix before = c;
      GemmArgs args = operands.args();
      args.c = c.data();
      args.ldc = c.ld();
      args.accumulate = accumulate;
      gemm_with(impl, {&args, 1});
      expect_result(c, operands.size, sums, term_error(impl, operands.type), DType::f32,
                    operands.describe(impl) + (accumulate ? " accumulated" : ""), [&](std::int64_t i, std::int64_t j) {
                      return (accumulate ? before.at(i, j) : 0.0) + sums.value[i * operands.size.n + j];
                    });
    }
  }
}

void for_each_layout(const std::function<void(DType, bool, bool)>& visit) {
  for (const DType type : kFormats)
    for (const bool a_transposed : {false, true})
      for (const bool b_transposed : {false, true}) visit(type, a_transposed, b_transposed);
}

TEST(Gemm, EveryImplementationIsRightForSmallSizes) {
  const OneThread one_thread;
  for_each_layout([](DType type, bool a_transposed, bool b_transposed) {
    for (const std::int64_t m : {1, 15, 16, 17, 35})
      for (const std::int64_t n : {1, 2, 33})
        for (const std::int64_t k : {1, 3, 31, 32, 33})
          expect_plain_product({type, {m, n, k}, a_transposed, b_transposed});
  });
}

TEST(Gemm, EveryImplementationIsRightAroundTheEdgesOfTiles) {
  const OneThread one_thread;
  for_each_layout([](DType type, bool a_transposed, bool b_transposed) {
    for (const Size size :
         {Size{255, 3, 33}, Size{256, 257, 32}, Size{257, 255, 31}, Size{300, 300, 1}, Size{7, 256, 511},
          Size{16, 5, 512}, Size{17, 300, 513}, Size{513, 2, 40}, Size{33, 800, 5}})
      expect_plain_product({type, size, a_transposed, b_transposed});
  });
}

TEST(Gemm, LongSumsWithSmallOutputsAreRight) {
  const OneThread one_thread;
  for (const DType type : kFormats)
    for (const Size size : {Size{2, 768, 4096}, Size{2, 768, 4219}}) {
      expect_plain_product({type, size, true, false});
      expect_plain_product({type, {2, 40, size.k}, true, false});
      expect_plain_product({type, {2, 100, size.k}, false, true});
      expect_plain_product({type, {40, 100, size.k}, false, true});
    }
}

TEST(Gemm, AnEmptyResultIsLeftAlone) {
  for (const Size size : {Size{0, 5, 4}, Size{5, 0, 4}, Size{0, 0, 0}}) {
    Operands operands(DType::f32, size, false, false);
    Matrix c(DType::f32, size.m, size.n, 3);
    const Matrix before = c;
    GemmArgs args = operands.args();
    args.c = c.data();
    args.ldc = c.ld();
    gemm(args);
    EXPECT_EQ(c, before);
  }
}

TEST(Gemm, ANotANumberStaysInItsRow) {
  for (const DType type : kFormats)
    for (const GemmImpl& impl : impls_for(type, {40, 20, 32})) {
      Operands operands(type, {40, 20, 32}, false, true);
      operands.a.buffer().set(37 * operands.a.ld() + 3, kNaN);
      operands.a.buffer().set(5 * operands.a.ld() + 31, std::numeric_limits<float>::infinity());
      Matrix c(DType::f32, 40, 20, 3);
      GemmArgs args = operands.args();
      args.c = c.data();
      args.ldc = c.ld();
      gemm_with(impl, {&args, 1});
      for (std::int64_t i = 0; i < 40; ++i)
        for (std::int64_t j = 0; j < 20; ++j)
          ASSERT_EQ(std::isfinite(c.at(i, j)), i != 37 && i != 5)
              << operands.describe(impl) << " at " << i << ", " << j;
    }
}

// Weights in f32, rounded while they are packed, against the same weights in the format of the product.
TEST(Gemm, PackedWeightsGiveTheSameBits) {
  for (const DType type : {DType::bf16, DType::f16})
    for (const Size size : {Size{70, 33, 40}, Size{64, 96, 64}, Size{5, 1, 3}, Size{200, 130, 96}})
      for (const bool transposed : {false, true})
        for (const GemmImpl& impl : impls_for(type, size)) {
          if (impl.pack == nullptr) continue;
          Operands operands(type, size, false, transposed);
          Matrix weights(DType::f32, transposed ? size.n : size.k, transposed ? size.k : size.n, 7);
          for (std::int64_t i = 0; i < weights.buffer().size(); ++i) operands.b.buffer().set(i, weights.buffer().at(i));
          Matrix plain(DType::f32, size.m, size.n, 3), packed = plain;
          GemmArgs args = operands.args();
          args.c = plain.data();
          args.ldc = plain.ld();
          gemm_with(impl, {&args, 1});

          void* const memory = cpu::pool_allocate(static_cast<std::size_t>(impl.packed_bytes(type, size.k, size.n)));
          impl.pack({size.k, size.n, type, weights.buffer().floats(), weights.ld(), transposed, memory});
          args.b = nullptr;
          args.packed_b = memory;
          args.c = packed.data();
          gemm_with(impl, {&args, 1});
          EXPECT_EQ(plain, packed) << operands.describe(impl);

          // Once more piece by piece and past the cache, over what another matrix left.
          Matrix others(DType::f32, transposed ? size.n : size.k, transposed ? size.k : size.n, 8);
          PackArgs pack{size.k, size.n, type, others.buffer().floats(), others.ld(), transposed, memory};
          impl.pack(pack);
          pack.b = weights.buffer().floats();
          pack.ldb = weights.ld();
          for (; pack.row_begin < (transposed ? size.n : size.k); pack.row_begin = pack.row_end) {
            pack.row_end = pack.row_begin + kPackedRows;
            pack.non_temporal = true;
            impl.pack(pack);
          }
          Matrix by_rows(DType::f32, size.m, size.n, 3);
          args.c = by_rows.data();
          gemm_with(impl, {&args, 1});
          EXPECT_EQ(plain, by_rows) << operands.describe(impl);
          cpu::pool_free(memory);
        }
}

TEST(Gemm, DoesNotDependOnThreads) {
  for (const DType type : kFormats)
    for (const auto& [size, a_transposed, b_transposed] :
         {std::tuple{Size{2, 768, 4219}, true, false}, std::tuple{Size{600, 530, 70}, false, true},
          std::tuple{Size{520, 300, 513}, true, false}, std::tuple{Size{530, 520, 65}, false, false},
          std::tuple{Size{300, 270, 30}, true, true}})
      for (const DType c_type : {DType::f32, type}) {
        Operands operands(type, size, a_transposed, b_transposed);
        expect_same_for_any_threads([&, &size = size, a_is_transposed = a_transposed] {
          Matrix c(c_type, size.m, size.n, 3);
          GemmArgs args = operands.args();
          args.c_type = c_type;
          args.c = c.data();
          args.ldc = c.ld();
          args.accumulate = a_is_transposed;
          double squares = 0;
          if (is_weight_grad(args)) args.c_squares = &squares;
          gemm(args);
          return std::pair(c, squares);
        });
      }
}

// Matmuls on packed panels: a weight gradient of several chunks in blocks of 192 x 192, 192 x 96 and 96 x 96,
// beside another matmul.
TEST(Gemm, MatmulsOnTilesDoNotDependOnThreads) {
  if (cpu::isa() < cpu::Isa::avx512_bf16) GTEST_SKIP() << "packing for tiles needs AVX512-BF16";
  for (const auto& [type, size] :
       {std::pair{DType::bf16, Size{20, 4417, 780}}, std::pair{DType::bf16, Size{20, 2209, 780}},
        std::pair{DType::bf16, Size{90, 70, 1600}}, std::pair{DType::f16, Size{20, 2209, 780}}}) {
    Operands one(type, size, true, false), two(type, {size.k, 40, size.m}, false, true);
    expect_same_for_any_threads([&, &type = type, &size = size] {
      Matrix c(DType::f32, size.m, size.n, 3), other(type, two.size.m, two.size.n, 4);
      Buffer a_sums(DType::f32, size.m, 5);
      std::array matmuls{one.args(), two.args()};
      matmuls[0].c = c.data();
      matmuls[0].ldc = c.ld();
      matmuls[0].a_sums = a_sums.floats();
      double squares = 0;
      matmuls[0].c_squares = &squares;
      matmuls[1].c_type = type;
      matmuls[1].c = other.data();
      matmuls[1].ldc = other.ld();
      if (type == DType::bf16)
        panels::run_together<panels::VectorTiles>(matmuls);
      else
        panels::run_together<EmulatedTiles>(matmuls);
      return std::tuple(c, other, a_sums, squares);
    });
  }
}

TEST(Gemm, TheFormatAndTheProcessorChooseTheImplementation) {
  for (const cpu::Isa isa : cpu::all_isas()) {
    if (isa > cpu::highest_isa()) continue;
    const bool amx = isa == cpu::Isa::amx, fast_bf16 = isa >= cpu::Isa::avx512_bf16 && cpu::features().amd;
    EXPECT_EQ(choose_gemm(DType::f32, isa).name, "onednn") << cpu::name_of(isa);
    EXPECT_EQ(choose_gemm(DType::bf16, isa).name, amx         ? "amx"
                                                  : fast_bf16 ? "avx512_bf16"
                                                              : "widen")
        << cpu::name_of(isa);
    EXPECT_EQ(choose_gemm(DType::f16, isa).name, amx ? "amx" : "widen") << cpu::name_of(isa);
  }
}

TEST(Gemm, OneDnnWorksUnderTheSameCap) {
  cpu::Isa expected = cpu::isa();
  if (expected == cpu::Isa::amx && cpu::features().amx_palette_hidden) expected = cpu::Isa::avx512_bf16;
  if (expected == cpu::Isa::avx512_fp16 && onednn_version().starts_with("2.")) expected = cpu::Isa::avx512_bf16;
  Operands operands(DType::f32, {3, 3, 3}, false, false);
  expect_plain_product(operands);
  EXPECT_EQ(onednn_isa(), cpu::name_of(expected));
}

TEST(Gemm, TheListEndsWithAReferenceThatTakesEverything) {
  const GemmImpl& last = gemm_impls().back();
  EXPECT_EQ(last.name, "reference");
  for (const DType type : kFormats)
    for (const cpu::Isa isa : cpu::all_isas()) EXPECT_TRUE(last.accepts(type, isa));
}

}  // namespace
}  // namespace hearth::kernels
