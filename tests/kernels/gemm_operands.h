#pragma once

// Operands of matmuls in tests, their sums in double, and the implementations to compare with them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "hearth/base/dtype.h"
#include "hearth/cpu/isa.h"
#include "hearth/kernels/gemm/gemm.h"
#include "hearth/kernels/gemm/panel_gemm.h"
#include "hearth/kernels/gemm/panel_product-inl.h"
#include "hearth/kernels/simd/vector_tiles.h"
#include "tests/kernels/buffers.h"
#include "tests/kernels/emulated_tiles.h"

namespace hearth::kernels {

inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

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

  DType type() const { return buffer_.type(); }
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

// The error allowed per term of a sum: a few roundings of f32. On tiles an fp16 number is the sum of two bf16 parts,
// and the product of the low parts, at most 2^-16 of the term, is left out.
inline double term_error(const GemmImpl& impl, DType type) {
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

// Matmuls on packed panels, with the tiles' arithmetic in plain C++.
inline GemmImpl emulated_tiles() {
  return {.name = "amx emulated",
          .accepts = [](DType format, cpu::Isa isa) { return format != DType::f32 && isa >= cpu::Isa::avx512_bf16; },
          .run = panels::run_together<EmulatedTiles>,
          .takes_bf16_blocks = true,
          .packed_bytes = panel_bytes,
          .pack = pack_panels};
}

// The same on vectors of AVX512-BF16, also on processors that have something faster.
inline GemmImpl vector_tiles() {
  return {.name = "avx512_bf16, vectors",
          .accepts = [](DType format, cpu::Isa isa) { return format == DType::bf16 && isa >= cpu::Isa::avx512_bf16; },
          .run = panels::run_together<panels::VectorTiles>,
          .takes_bf16_blocks = true,
          .packed_bytes = panel_bytes,
          .pack = pack_panels};
}

// Both, as far as they take the format on this machine.
inline std::vector<GemmImpl> tile_impls(DType type) {
  std::vector<GemmImpl> impls{emulated_tiles(), vector_tiles()};
  std::erase_if(impls, [&](const GemmImpl& impl) { return !impl.accepts(type, cpu::isa()); });
  return impls;
}

// All that take the format on this machine, and those on packed panels that it would not choose; the emulation only if
// the product is not too large for arithmetic in plain C++.
inline std::vector<GemmImpl> impls_for(DType type, Size size) {
  std::vector<GemmImpl> impls(gemm_impls().begin(), gemm_impls().end());
  if ((size.m + 31) / 32 * 32 * size.n * size.k < 20'000'000) impls.push_back(emulated_tiles());
  impls.push_back(vector_tiles());
  std::erase_if(impls, [&](const GemmImpl& impl) { return !impl.accepts(type, cpu::isa()); });
  return impls;
}

}  // namespace hearth::kernels
