#include "hearth/kernels/attention/bf16.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/attention/bf16.cc"
#include "hearth/kernels/simd/simd.h"
// After simd.h.
#include <hwy/foreach_target.h>

#include "hearth/kernels/attention/backward-inl.h"
#include "hearth/kernels/attention/forward-inl.h"

#if HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {

// AVX512-BF16 as inline assembly: Highway's AVX-512 target does not include it, and functions compiled for a target
// that does could not be inlined here.

// sum + the products of the pairs of a and b.
HWY_INLINE F32Vec multiply_pairs(F32Vec a, F32Vec b, F32Vec sum) {
  asm("vdpbf16ps %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
  return sum;
}

// Rounds `low` and `high` to 32 bf16 numbers.
HWY_INLINE F32Vec round_to_pairs(F32Vec low, F32Vec high) {
  F32Vec pairs;
  asm("vcvtne2ps2bf16 %1, %2, %0" : "=v"(pairs.raw) : "v"(low.raw), "v"(high.raw));
  return pairs;
}

// The pairs (low[i], high[i]).
HWY_INLINE F32Vec round_to_zipped_pairs(F32Vec low, F32Vec high) {
  alignas(64) static constexpr std::uint16_t kZip[32] = {0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
                                                         8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  const __m512i pairs = _mm512_castps_si512(round_to_pairs(low, high).raw);
  return F32Vec{_mm512_castsi512_ps(_mm512_permutexvar_epi16(_mm512_load_si512(kZip), pairs))};
}

struct Bf16Products {
  static constexpr std::int64_t kPerCell = 2;

  struct LeftRows : Matrix {
    explicit LeftRows(const Matrix& matrix) : Matrix(matrix) {}
    LeftRows(BufferCutter& cutter, std::int64_t rows, std::int64_t cols) : Matrix(cutter, rows, (cols + 1) / 2) {}

    HWY_NOINLINE void fill(std::int64_t count, std::int64_t cols, const BFloat16* from, std::int64_t stride) const {
      const hn::ScalableTag<std::uint16_t> u16;
      for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t j = 0; j < cols; j += 2 * kLanes) {
          const auto some = hn::FirstN(u16, static_cast<std::size_t>(std::min(2 * kLanes, cols - j)));
          hn::StoreU(hn::BitCast(F32(), hn::MaskedLoad(some, u16, bits_of(from + i * stride + j))), F32(),
                     row(i) + j / 2);
        }
    }
    LeftCells left(std::int64_t i) const { return {row(i), pitch, 1}; }
  };

  struct RightRows : Matrix {
    RightRows(BufferCutter& cutter, std::int64_t rows, std::int64_t cols) : Matrix(cutter, (rows + 1) / 2, cols) {}

    HWY_NOINLINE void fill(std::int64_t count, std::int64_t cols, const BFloat16* from, std::int64_t stride) const {
      const BitsOf<F32> u32;
      for (std::int64_t i = 0; i < count; i += 2)
        for (std::int64_t j = 0; j < cols; j += kLanes) {
          const std::uint16_t* at = bits_of(from + i * stride + j);
          const auto lanes = static_cast<std::size_t>(std::min(kLanes, cols - j));
          const auto low = load_half_bits_n(F32(), at, lanes);
          const auto high = i + 1 < count ? load_half_bits_n(F32(), at + stride, lanes) : hn::Zero(HalfBitsOf<F32>());
          const auto pairs = hn::Or(hn::PromoteTo(u32, low), hn::ShiftLeft<16>(hn::PromoteTo(u32, high)));
          hn::StoreU(hn::BitCast(F32(), pairs), F32(), row(i / 2) + j);
        }
    }
    RightCells right(std::int64_t k) const { return {row(k / 2), kPanel, pitch}; }
  };

  struct BothRows {
    LeftRows as_left;
    RightRows as_right;

    BothRows(BufferCutter& cutter, std::int64_t rows, std::int64_t cols)
        : as_left(cutter, rows, cols), as_right(cutter, rows, cols) {}

    void fill(std::int64_t count, std::int64_t cols, const BFloat16* from, std::int64_t stride) const {
      as_left.fill(count, cols, from, stride);
      as_right.fill(count, cols, from, stride);
    }
    LeftCells left(std::int64_t i) const { return as_left.left(i); }
    RightCells right(std::int64_t k) const { return as_right.right(k); }
  };

  struct RightColumns : Columns {
    RightColumns(BufferCutter& cutter, std::int64_t rows, std::int64_t cols) : Columns(cutter, rows, (cols + 1) / 2) {}

    HWY_NOINLINE void fill(std::int64_t count, std::int64_t cols, const BFloat16* from, std::int64_t stride) const {
      for (std::int64_t n = 0; n < count; n += kLanes) {
        LeftRows(some_rows).fill(std::min(kLanes, count - n), cols, from + n * stride, stride);
        transpose(n);
      }
    }
  };

  struct Scores : Matrix {
    Matrix rounded, rounded_transposed;

    Scores(BufferCutter& cutter, std::int64_t rows, std::int64_t cols)
        : Matrix(cutter, rows, cols),
          rounded(cutter, rows, (cols + 1) / 2),
          rounded_transposed(cutter, (rows + 1) / 2, cols) {}

    HWY_NOINLINE LeftCells left(std::int64_t rows, std::int64_t cols) const {
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < cols; j += 2 * kLanes) {
          const F32Vec low = hn::LoadU(F32(), row(i) + j);
          const F32Vec high = j + kLanes < cols ? hn::LoadU(F32(), row(i) + j + kLanes) : hn::Zero(F32());
          hn::StoreU(round_to_pairs(low, high), F32(), rounded.row(i) + j / 2);
        }
      return {rounded.data, rounded.pitch, 1};
    }
    HWY_NOINLINE LeftCells left_transposed(std::int64_t rows, std::int64_t cols) const {
      for (std::int64_t i = 0; i < rows; i += 2)
        for (std::int64_t j = 0; j < cols; j += kLanes) {
          const F32Vec low = hn::LoadU(F32(), row(i) + j);
          const F32Vec high = i + 1 < rows ? hn::LoadU(F32(), row(i + 1) + j) : hn::Zero(F32());
          hn::StoreU(round_to_zipped_pairs(low, high), F32(), rounded_transposed.row(i / 2) + j);
        }
      return {rounded_transposed.data, 1, rounded_transposed.pitch};
    }
  };

  struct MultiplyAdd {
    HWY_INLINE F32Vec operator()(F32Vec a, F32Vec b, F32Vec sum) const { return multiply_pairs(a, b, sum); }
  };
  static void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const LeftCells& a, const RightCells& b,
                       const Matrix& c, bool accumulate) {
    BlockProduct<MultiplyAdd>::run(m, n, (k + 1) / 2, a, b, c, accumulate);
  }
};

}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace hearth::kernels {

bool attention_bf16_accepts(const AttentionArgs& args, cpu::Isa isa) {
  return args.type == DType::bf16 && isa >= cpu::Isa::avx512_bf16 && cpu::features().amd;
}

void attention_bf16_forward(const AttentionArgs& args) { N_AVX3::forward_all<BFloat16, N_AVX3::Bf16Products>(args); }

void attention_bf16_backward(const AttentionArgs& args, const AttentionGradArgs& grads) {
  N_AVX3::backward_all<BFloat16, N_AVX3::Bf16Products>(args, grads);
}

}  // namespace hearth::kernels
#endif
