// The matmuls inside attention with vector instructions, in f32: C(m, n) (+)= A(m, k) B(k, n).

#if defined(HEARTH_KERNELS_ATTENTION_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEARTH_KERNELS_ATTENTION_PRODUCTS_INL_H_
#undef HEARTH_KERNELS_ATTENTION_PRODUCTS_INL_H_
#else
#define HEARTH_KERNELS_ATTENTION_PRODUCTS_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "hearth/base/rounding.h"
#include "hearth/kernels/attention/scratch.h"
#include "hearth/kernels/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {

using F32Vec = hn::Vec<F32>;
inline constexpr std::int64_t kLanes = hn::MaxLanes(F32());

// C is computed in blocks that fill the vector registers: kBlockRows rows by a panel of kPanelVectors vectors.
inline constexpr int kBlockRows = 6, kPanelVectors = kLanes == 16 ? 4 : 2;
inline constexpr std::int64_t kPanel = kPanelVectors * kLanes;

// Rows of whole vectors.
struct Matrix {
  float* data;
  std::int64_t pitch;

  Matrix(float* first_row, std::int64_t row_pitch) : data(first_row), pitch(row_pitch) {}
  Matrix(BufferCutter& cutter, std::int64_t rows, std::int64_t cols)
      : data(cutter.floats(rows * pitch_of(cols))), pitch(pitch_of(cols)) {}

  // An odd number of cache lines: rows a power of two apart would fall into few sets of the L1 cache.
  static std::int64_t pitch_of(std::int64_t cols) { return ((cols + 15) / 16 | 1) * 16; }

  float* row(std::int64_t i) const { return data + i * pitch; }
  Matrix from(std::int64_t i) const { return {row(i), pitch}; }
};

// A: number (i, k) is data[i * row + k * step].
struct LeftOperand {
  const float* data;
  std::int64_t row, step;

  LeftOperand from(std::int64_t k) const { return {data + k * step, row, step}; }
};

// B: row k of panel p begins at data[p * panel + k * row].
struct RightOperand {
  const float* data;
  std::int64_t panel, row;
};

using BlockProduct = void(std::int64_t depth, LeftOperand a, const float* b, std::int64_t b_row, float* c,
                          std::int64_t c_row, bool accumulate);

template <int rows, int vectors>
HWY_NOINLINE void block_product(std::int64_t depth, LeftOperand a, const float* HWY_RESTRICT b, std::int64_t b_row,
                                float* HWY_RESTRICT c, std::int64_t c_row, bool accumulate) {
  F32Vec sums[rows][vectors];
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < vectors; ++j)
      sums[i][j] = accumulate ? hn::LoadU(F32(), c + i * c_row + j * kLanes) : hn::Zero(F32());
  for (std::int64_t k = 0; k < depth; ++k) {
    F32Vec row[vectors];
    for (int j = 0; j < vectors; ++j) row[j] = hn::LoadU(F32(), b + j * kLanes);
    for (int i = 0; i < rows; ++i) {
      const F32Vec factor = hn::Set(F32(), a.data[i * a.row]);
      for (int j = 0; j < vectors; ++j) sums[i][j] = hn::MulAdd(factor, row[j], sums[i][j]);
    }
    a.data += a.step;
    b += b_row;
  }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < vectors; ++j) hn::StoreU(sums[i][j], F32(), c + i * c_row + j * kLanes);
}

template <int rows, int... j>
constexpr std::array<BlockProduct*, kPanelVectors> blocks_of(std::integer_sequence<int, j...>) {
  return {block_product<rows, j + 1>...};
}
template <int... i>
constexpr std::array<std::array<BlockProduct*, kPanelVectors>, kBlockRows> all_blocks(
    std::integer_sequence<int, i...>) {
  return {blocks_of<i + 1>(std::make_integer_sequence<int, kPanelVectors>())...};
}

// C = [C +] A B. Writes whole vectors: C must have room for n rounded up to whole vectors.
inline HWY_NOINLINE void multiply(std::int64_t m, std::int64_t n, std::int64_t depth, const LeftOperand& a,
                                  const RightOperand& b, const Matrix& c, bool accumulate) {
  static constexpr auto kBlocks = all_blocks(std::make_integer_sequence<int, kBlockRows>());
  for (std::int64_t j = 0; j < n; j += kPanel) {
    const std::int64_t vectors = std::min<std::int64_t>(kPanelVectors, divide_up(n - j, kLanes));
    const float* panel = b.data + j / kPanel * b.panel;
    for (std::int64_t i = 0; i < m; i += kBlockRows) {
      const std::int64_t rows = std::min<std::int64_t>(kBlockRows, m - i);
      kBlocks[rows - 1][vectors - 1](depth, {a.data + i * a.row, a.row, a.step}, panel, b.row, c.row(i) + j, c.pitch,
                                     accumulate);
    }
  }
}

// The vector of the 128-bit blocks at p, p + 4 pitch, p + 8 pitch, ...
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const float* p, std::int64_t pitch) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return hn::LoadU(d, p);
  } else {
    const hn::Half<D> half;
    constexpr auto kHalf = static_cast<std::int64_t>(hn::MaxLanes(half));
    return hn::Combine(d, load_blocks(half, p + kHalf * pitch, pitch), load_blocks(half, p, pitch));
  }
}

// 4 columns of kLanes rows become 4 rows.
HWY_INLINE void transpose_columns(const float* from, std::int64_t from_pitch, float* HWY_RESTRICT to,
                                  std::int64_t to_pitch) {
  const F32 f32;
  const hn::Repartition<std::uint64_t, F32> u64;
  const F32Vec row0 = load_blocks(f32, from, from_pitch);
  const F32Vec row1 = load_blocks(f32, from + from_pitch, from_pitch);
  const F32Vec row2 = load_blocks(f32, from + 2 * from_pitch, from_pitch);
  const F32Vec row3 = load_blocks(f32, from + 3 * from_pitch, from_pitch);
  const auto low01 = hn::BitCast(u64, hn::InterleaveLower(f32, row0, row1));
  const auto low23 = hn::BitCast(u64, hn::InterleaveLower(f32, row2, row3));
  const auto high01 = hn::BitCast(u64, hn::InterleaveUpper(f32, row0, row1));
  const auto high23 = hn::BitCast(u64, hn::InterleaveUpper(f32, row2, row3));
  hn::StoreU(hn::BitCast(f32, hn::InterleaveLower(u64, low01, low23)), f32, to);
  hn::StoreU(hn::BitCast(f32, hn::InterleaveUpper(u64, low01, low23)), f32, to + to_pitch);
  hn::StoreU(hn::BitCast(f32, hn::InterleaveLower(u64, high01, high23)), f32, to + 2 * to_pitch);
  hn::StoreU(hn::BitCast(f32, hn::InterleaveUpper(u64, high01, high23)), f32, to + 3 * to_pitch);
}

// B from a matrix that holds B transposed: number (k, n) is column k of row n. Stored in panels of kPanel columns of B.
struct Columns {
  Matrix some_rows;  // being transposed
  float* data;
  std::int64_t depth;  // of a row, a multiple of 4

  Columns(BufferCutter& cutter, std::int64_t rows, std::int64_t cols)
      : some_rows(cutter, kLanes, cols),
        data(cutter.floats(round_up(rows, kPanel) * round_up(cols, 4))),
        depth(round_up(cols, 4)) {}

  RightOperand right() const { return {data, kPanel * depth, kPanel}; }

  // Fills the columns n to n + kLanes from some_rows.
  HWY_INLINE void transpose(std::int64_t n) const {
    float* to = data + n / kPanel * kPanel * depth + n % kPanel;
    for (std::int64_t k = 0; k < depth; k += 4)
      transpose_columns(some_rows.data + k, some_rows.pitch, to + k * kPanel, kPanel);
  }
};

}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
