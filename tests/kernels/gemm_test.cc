#include "hearth/kernels/gemm/gemm.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <tuple>

#include "hearth/kernels/gemm/amx-inl.h"
#include "hearth/kernels/gemm/amx.h"
#include "hearth/kernels/gemm/onednn.h"
#include "tests/kernels/buffers.h"
#include "tests/kernels/emulated_tiles.h"

namespace hearth::kernels {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Size {
  std::int64_t m, n, k;
};

// A stored matrix whose rows are longer than its columns and which more rows follow: all that lies around it is NaN.
class Matrix {
 public:
  Matrix(DType type, std::int64_t rows, std::int64_t cols, std::uint32_t seed, std::int64_t gap = 5)
      : rows_(rows), cols_(cols), ld_(cols + gap), buffer_(type, (rows + kRowsAfter) * ld_, seed) {
    for (std::int64_t i = 0; i < buffer_.size(); ++i)
      if (i / ld_ >= rows || i % ld_ >= cols) buffer_.set(i, kNaN);
  }

  std::int64_t ld() const { return ld_; }
  void* data() { return buffer_.data(); }
  Buffer& buffer() { return buffer_; }
  float at(std::int64_t row, std::int64_t col) const { return buffer_.at(row * ld_ + col); }
  void fill(float value) {
    for (std::int64_t row = 0; row < rows_; ++row)
      for (std::int64_t col = 0; col < cols_; ++col) buffer_.set(row * ld_ + col, value);
  }
  bool surroundings_intact() const {
    for (std::int64_t i = 0; i < buffer_.size(); ++i)
      if ((i / ld_ >= rows_ || i % ld_ >= cols_) && !std::isnan(buffer_.at(i))) return false;
    return buffer_.margins_intact();
  }
  bool operator==(const Matrix& other) const { return buffer_ == other.buffer_; }

 private:
  static constexpr std::int64_t kRowsAfter = 18;

  std::int64_t rows_, cols_, ld_;
  Buffer buffer_;
};

// The sums of a product in double, and how large their terms are together.
struct Sums {
  std::vector<double> value, magnitude;  // (m, n)
};

struct Operands {
  Operands(DType format, Size sizes, bool transpose_a, bool transpose_b)
      : type(format),
        size(sizes),
        a_transposed(transpose_a),
        b_transposed(transpose_b),
        a(type, a_transposed ? size.k : size.m, a_transposed ? size.m : size.k, 1),
        b(type, b_transposed ? size.n : size.k, b_transposed ? size.k : size.n, 2) {}

  GemmArgs args() {
    GemmArgs args;
    args.m = size.m;
    args.n = size.n;
    args.k = size.k;
    args.type = type;
    args.a = a.data();
    args.lda = a.ld();
    args.a_transposed = a_transposed;
    args.b = b.data();
    args.ldb = b.ld();
    args.b_transposed = b_transposed;
    return args;
  }

  Sums sums() const {
    const auto count = static_cast<std::size_t>(size.m * size.n);
    Sums sums{std::vector<double>(count), std::vector<double>(count)};
    std::vector<double> b_row(static_cast<std::size_t>(size.n));
    for (std::int64_t p = 0; p < size.k; ++p) {
      for (std::int64_t j = 0; j < size.n; ++j) b_row[j] = b_transposed ? b.at(j, p) : b.at(p, j);
      for (std::int64_t i = 0; i < size.m; ++i) {
        const double factor = a_transposed ? a.at(p, i) : a.at(i, p);
        for (std::int64_t j = 0; j < size.n; ++j) {
          sums.value[i * size.n + j] += factor * b_row[j];
          sums.magnitude[i * size.n + j] += std::abs(factor * b_row[j]);
        }
      }
    }
    return sums;
  }

  std::string describe(const GemmImpl& impl) const {
    return fmt::format("{} {} ({}, {}, {}){}{}", impl.name, name_of(type), size.m, size.n, size.k,
                       a_transposed ? " A transposed" : "", b_transposed ? " B transposed" : "");
  }

  DType type;
  Size size;
  bool a_transposed, b_transposed;
  Matrix a, b;
};

double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::gelu:
      return x * 0.5 * (1 + std::erf(x / std::numbers::sqrt2));
    case Activation::gelu_tanh:
      return x * 0.5 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::relu:
      return std::max(x, 0.0);
    case Activation::tanh:
      return std::tanh(x);
  }
  return kNaN;
}

// The error allowed per term of a sum: a few roundings of f32. On tiles an fp16 number is the sum of two bf16 parts,
// and the product of the low parts, at most 2^-16 of the term, is left out.
double term_error(const GemmImpl& impl, DType type) {
  return type == DType::f16 && impl.name.starts_with("amx") ? 1.6e-5 : 1e-6;
}

// `expected(i, j)` within `term_error` for each term of the sum, and one rounding to the format stored.
template <class Expected>
void expect_result(const Matrix& c, Size size, const Sums& sums, double term_error, DType c_type,
                   const std::string& what, const Expected& expected) {
  EXPECT_TRUE(c.surroundings_intact()) << what << " wrote outside C";
  for (std::int64_t i = 0; i < size.m; ++i)
    for (std::int64_t j = 0; j < size.n; ++j) {
      const double e = expected(i, j);
      const double tolerance =
          term_error * sums.magnitude[i * size.n + j] + 2e-6 + 0.51 * unit_of(c_type) * std::abs(e);
      ASSERT_NEAR(c.at(i, j), e, tolerance) << what << " at " << i << ", " << j;
    }
}

// All that take the format on this machine; the loops around AMX's tiles even where it has none, unless the product is
// too large for arithmetic in plain C++.
std::vector<GemmImpl> impls_for(DType type, Size size) {
  std::vector<GemmImpl> impls(gemm_impls().begin(), gemm_impls().end());
  if ((size.m + 31) / 32 * 32 * size.n * size.k < 20'000'000)
    impls.push_back(
        {.name = "amx emulated",
         .accepts = [](DType format, cpu::Isa isa) { return format != DType::f32 && isa >= cpu::Isa::avx512_bf16; },
         .run = amx::run_together<EmulatedTiles>,
         .takes_bf16_blocks = true,
         .packed_bytes = amx_packed_bytes,
         .pack = amx_pack});
  std::erase_if(impls, [&](const GemmImpl& impl) { return !impl.accepts(type, cpu::isa()); });
  return impls;
}

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

// Sums over tokens around the edges of their blocks, which are cut into shares, with those of A, several at once.
TEST(Gemm, SumsOverTokensAreRightTogether) {
  const OneThread one_thread;
  for (const DType type : kFormats)
    for (const Size size : {Size{193, 31, 64}, Size{191, 200, 1}, Size{385, 2, 530}, Size{32, 225, 1091}}) {
      Operands one(type, size, true, false), two(type, {size.k, size.m, 70}, false, true);
      const Sums sums = one.sums(), other_sums = two.sums();
      for (const GemmImpl& impl : impls_for(type, size))
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
}

// The epilogue after the sum: bias, activation, the value before it, rounding.
struct End {
  DType c_type;
  Activation activation = Activation::none;
  bool bias = false, before = false, accumulate = false;
};

std::vector<End> ends() {
  std::vector<End> ends;
  for (const DType c_type : kFormats)
    for (const bool bias : {false, true}) {
      ends.push_back({c_type, Activation::none, bias, false, true});
      for (const bool before : {false, true})
        for (const Activation activation :
             {Activation::none, Activation::gelu, Activation::gelu_tanh, Activation::relu, Activation::tanh})
          ends.push_back({c_type, activation, bias, before, false});
    }
  return ends;
}

void expect_end(const GemmImpl& impl, Operands& operands, const Sums& sums, const End& end) {
  const Size size = operands.size;
  Matrix c(end.c_type, size.m, size.n, 3), before(end.c_type, size.m, size.n, 4);
  if (!end.accumulate) c.fill(kNaN);
  const Matrix old = c;
  Buffer bias(DType::f32, size.n, 5);
  GemmArgs args = operands.args();
  args.c_type = end.c_type;
  args.c = c.data();
  args.ldc = c.ld();
  args.accumulate = end.accumulate;
  args.bias = end.bias ? bias.floats() : nullptr;
  args.activation = end.activation;
  args.before_activation = end.before ? before.data() : nullptr;
  gemm_with(impl, {&args, 1});

  const std::string what =
      fmt::format("{} into {}, activation {}{}{}", operands.describe(impl), name_of(end.c_type),
                  static_cast<int>(end.activation), end.bias ? ", bias" : "", end.accumulate ? ", accumulated" : "");
  const auto sum = [&](std::int64_t i, std::int64_t j) {
    return sums.value[i * size.n + j] + (end.bias ? bias.at(j) : 0.0);
  };
  const double error = term_error(impl, operands.type);
  expect_result(c, size, sums, error, end.c_type, what, [&](std::int64_t i, std::int64_t j) {
    return activated(end.activation, sum(i, j)) + (end.accumulate ? old.at(i, j) : 0.0);
  });
  if (end.before) expect_result(before, size, sums, error, end.c_type, what + ", before it", sum);
}

TEST(Gemm, EveryEndOfAProductIsRight) {
  const OneThread one_thread;
  for (const DType type : kFormats)
    for (const bool b_transposed : {false, true})
      for (const Size size : {Size{1, 1, 1}, Size{19, 258, 24}, Size{70, 40, 64}}) {
        Operands operands(type, size, false, b_transposed);
        const Sums sums = operands.sums();
        for (const GemmImpl& impl : impls_for(type, size))
          for (const End& end : ends()) expect_end(impl, operands, sums, end);
      }
}

// The gradient of an activation's output becomes that of its input.
TEST(Gemm, MultipliesByTheSlopeOfAnActivation) {
  const OneThread one_thread;
  for (const DType type : kFormats)
    for (const DType c_type : {DType::f32, type})
      for (const Activation activation : {Activation::none, Activation::gelu, Activation::gelu_tanh, Activation::tanh})
        for (const Size size : {Size{1, 1, 1}, Size{19, 258, 24}, Size{70, 40, 64}}) {
          Operands operands(type, size, false, false);
          const Sums sums = operands.sums();
          for (const GemmImpl& impl : impls_for(type, size)) {
            Matrix c(c_type, size.m, size.n, 3), at(c_type, size.m, size.n, 4);
            c.fill(kNaN);
            GemmArgs args = operands.args();
            args.c_type = c_type;
            args.c = c.data();
            args.ldc = c.ld();
            args.activation = activation;
            args.slope_at = at.data();
            gemm_with(impl, {&args, 1});
            const auto slope = [&](double x) {
              const float input = static_cast<float>(x), one = 1;
              float result = 0;
              activation_backward(activation, DType::f32, 1, &input, &one, &result);
              return double{result};
            };
            expect_result(
                c, size, sums, 1.2 * term_error(impl, type), c_type, operands.describe(impl),
                [&](std::int64_t i, std::int64_t j) { return sums.value[i * size.n + j] * slope(at.at(i, j)); });
          }
        }
}

TEST(Gemm, AnEmptySumStillHasItsEnd) {
  const OneThread one_thread;
  for (const DType type : kFormats)
    for (const GemmImpl& impl : impls_for(type, {260, 3, 0})) {
      Operands operands(type, {260, 3, 0}, true, false);
      const Sums sums = operands.sums();
      for (const End& end : ends()) expect_end(impl, operands, sums, end);
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

// The loops around AMX's tiles: a weight gradient in small and in large blocks of several chunks, beside another
// matmul.
TEST(Gemm, MatmulsOnTilesDoNotDependOnThreads) {
  if (cpu::isa() < cpu::Isa::avx512_bf16) GTEST_SKIP() << "packing for tiles needs AVX512-BF16";
  for (const auto& [type, size] :
       {std::pair{DType::bf16, Size{600, 400, 1100}}, std::pair{DType::bf16, Size{90, 70, 1600}},
        std::pair{DType::f16, Size{100, 210, 530}}}) {
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
      amx::run_together<EmulatedTiles>(matmuls);
      return std::tuple(c, other, a_sums, squares);
    });
  }
}

double sum_of_squares(const Matrix& c, Size size) {
  double sum = 0;
  for (std::int64_t i = 0; i < size.m; ++i)
    for (std::int64_t j = 0; j < size.n; ++j) sum += double{c.at(i, j)} * double{c.at(i, j)};
  return sum;
}

TEST(Gemm, EveryImplementationSumsTheSquaresOfAWeightGradient) {
  const OneThread one_thread;
  for (const DType type : kFormats)
    for (const Size size :
         {Size{1, 1, 1}, Size{193, 31, 64}, Size{300, 270, 20}, Size{17, 205, 530}, Size{260, 3, 0}, Size{0, 5, 4}})
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

TEST(Gemm, SquaresShowANotANumber) {
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
TEST(Gemm, AWeightGradientWrittenPastTheCachesHasTheSameBits) {
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
            amx::run_together<EmulatedTiles>({&args, 1});
            return c;
          };
          const Buffer c = run(true);
          EXPECT_TRUE(c == run(false)) << size.m << ", " << size.n << ", " << size.k << ", from " << begin << ", ld "
                                       << ld << (accumulate ? ", accumulated" : "");
          EXPECT_TRUE(c.margins_intact());
        }
  }
}

// Blocks of C on tiles are 192 x 192, 192 x 96 or 96 x 96, by the sizes; the last row and column of blocks are cut off.
TEST(Gemm, WeightGradientsAreRightInBlocksOfEachShape) {
  if (cpu::isa() < cpu::Isa::avx512_bf16) GTEST_SKIP() << "packing for tiles needs AVX512-BF16";
  for (const Size size : {Size{577, 961, 780}, Size{577, 481, 780}, Size{1153, 1000, 5}, Size{97, 100, 780}}) {
    Operands operands(DType::bf16, size, true, false);
    const Sums sums = operands.sums();
    Matrix c(DType::f32, size.m, size.n, 3);
    c.fill(kNaN);
    GemmArgs args = operands.args();
    args.c = c.data();
    args.ldc = c.ld();
    amx::run_together<EmulatedTiles>({&args, 1});
    expect_result(c, size, sums, 1e-6, DType::f32, fmt::format("{} x {} x {}", size.m, size.n, size.k),
                  [&](std::int64_t i, std::int64_t j) { return sums.value[i * size.n + j]; });
  }
}

// One block and many threads: most tasks find it held and leave their link to the thread that holds it.
TEST(Gemm, EveryChunkOfAWeightGradientIsAdded) {
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
    amx::run_together<EmulatedTiles>({&args, 1});
    expect_result(c, operands.size, sums, 1e-6, DType::f32, fmt::format("round {}", round),
                  [&](std::int64_t i, std::int64_t j) { return sums.value[i * operands.size.n + j]; });
  }
  cpu::set_num_threads(0);
}

TEST(Gemm, TheFormatAndTheProcessorChooseTheImplementation) {
  for (const cpu::Isa isa : cpu::all_isas()) {
    if (isa > cpu::highest_isa()) continue;
    const bool amx = isa == cpu::Isa::amx, fast_bf16 = isa >= cpu::Isa::avx512_bf16 && cpu::features().amd;
    EXPECT_EQ(choose_gemm(DType::f32, isa).name, "onednn") << cpu::name_of(isa);
    EXPECT_EQ(choose_gemm(DType::bf16, isa).name, amx ? "amx" : fast_bf16 ? "onednn" : "widen") << cpu::name_of(isa);
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
