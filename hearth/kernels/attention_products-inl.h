// The products of attention in f32. Another struct of the same members can take F32Products' place.

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

#include "hearth/kernels/attention_scratch.h"
#include "hearth/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {

// C(m, n) (+)= A(m, k) B(k, n), through blocks of C that fill the registers: kBlockRows rows by a panel of
// kPanelVectors vectors.
struct F32Products {
  using V = hn::Vec<F32>;
  static constexpr std::int64_t kLanes = hn::MaxLanes(F32());
  static constexpr int kBlockRows = 6, kPanelVectors = kLanes == 16 ? 4 : 2;
  static constexpr std::int64_t kPanel = kPanelVectors * kLanes;

  // A: element (i, k) is data[i * row + k * step].
  struct Left {
    const float* data;
    std::int64_t row, step;
  };

  // B: row k of panel p begins at data[p * panel + k * row].
  struct Right {
    const float* data;
    std::int64_t panel, row;
  };

  // A matrix by rows of whole vectors: A, also transposed, or B; or C, to become A.
  struct Rows {
    float* data;
    std::int64_t pitch;

    Rows(float* rows, std::int64_t row_pitch) : data(rows), pitch(row_pitch) {}
    Rows(Carver& carver, std::int64_t rows, std::int64_t cols)
        : data(carver.floats(rows * pitch_of(cols))), pitch(pitch_of(cols)) {}

    // An odd number of cache lines: rows a power of two apart would crowd into few sets of the first-level cache.
    static std::int64_t pitch_of(std::int64_t cols) { return ((cols + 15) / 16 | 1) * 16; }

    // Rows [0, count) from `from`, zeros in what is beyond the columns.
    template <class T>
    HWY_NOINLINE void fill(std::int64_t count, std::int64_t cols, const T* from, std::int64_t stride) const {
      for (std::int64_t i = 0; i < count; ++i)
        for_vectors(F32(), cols, [&](std::int64_t j, auto lanes) HWY_ATTR {
          hn::StoreU(lanes.load(F32(), from + i * stride + j), F32(), row(i) + j);
        });
    }

    float* row(std::int64_t i) const { return data + i * pitch; }
    Rows from(std::int64_t i) const { return {row(i), pitch}; }
    Left left(std::int64_t i, std::int64_t k) const { return {row(i) + k, pitch, 1}; }
    Left left_transposed(std::int64_t i, std::int64_t k) const { return {row(k) + i, 1, pitch}; }
    Right right(std::int64_t k) const { return {row(k), kPanel, pitch}; }
  };

  // A matrix by columns, in panels of kPanel of its rows: B, transposed.
  struct Columns {
    float* data;
    std::int64_t depth;  // columns, a multiple of 4

    Columns(Carver& carver, std::int64_t rows, std::int64_t cols)
        : data(carver.floats((rows + kPanel - 1) / kPanel * kPanel * ((cols + 3) / 4 * 4))),
          depth((cols + 3) / 4 * 4) {}

    // Columns of the rows [first, first + count), where a panel begins, from rows that go up to whole vectors of them.
    HWY_NOINLINE void fill(std::int64_t first, std::int64_t count, const Rows& rows) const;
    Right right() const { return {data, kPanel * depth, kPanel}; }
  };

  // Writes whole vectors: C has room for n rounded up to them.
  HWY_NOINLINE static void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const Left& a, const Right& b,
                                    const Rows& c, bool accumulate);

 private:
  using Block = void(std::int64_t k, Left a, const float* b, std::int64_t b_row, float* c, std::int64_t ldc,
                     bool accumulate);

  template <int rows, int vectors>
  HWY_NOINLINE static void block(std::int64_t depth, Left a, const float* HWY_RESTRICT b, std::int64_t b_row,
                                 float* HWY_RESTRICT c, std::int64_t ldc, bool accumulate) {
    V sums[rows][vectors];
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < vectors; ++j)
        sums[i][j] = accumulate ? hn::LoadU(F32(), c + i * ldc + j * kLanes) : hn::Zero(F32());
    for (std::int64_t k = 0; k < depth; ++k) {
      V row[vectors];
      for (int j = 0; j < vectors; ++j) row[j] = hn::LoadU(F32(), b + j * kLanes);
      for (int i = 0; i < rows; ++i) {
        const V factor = hn::Set(F32(), a.data[i * a.row]);
        for (int j = 0; j < vectors; ++j) sums[i][j] = hn::MulAdd(factor, row[j], sums[i][j]);
      }
      a.data += a.step;
      b += b_row;
    }
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < vectors; ++j) hn::StoreU(sums[i][j], F32(), c + i * ldc + j * kLanes);
  }

  template <int rows, int... j>
  static constexpr std::array<Block*, kPanelVectors> blocks_of(std::integer_sequence<int, j...>) {
    return {block<rows, j + 1>...};
  }
  template <int... i>
  static constexpr auto all_blocks(std::integer_sequence<int, i...>) {
    return std::array{blocks_of<i + 1>(std::make_integer_sequence<int, kPanelVectors>())...};
  }
};

void F32Products::multiply(std::int64_t m, std::int64_t n, std::int64_t k, const Left& a, const Right& b, const Rows& c,
                           bool accumulate) {
  static constexpr auto kBlocks = all_blocks(std::make_integer_sequence<int, kBlockRows>());
  for (std::int64_t j = 0; j < n; j += kPanel) {
    const std::int64_t vectors = std::min<std::int64_t>(kPanelVectors, (n - j + kLanes - 1) / kLanes);
    const float* panel = b.data + j / kPanel * b.panel;
    for (std::int64_t i = 0; i < m; i += kBlockRows) {
      const std::int64_t rows = std::min<std::int64_t>(kBlockRows, m - i);
      kBlocks[rows - 1][vectors - 1](k, {a.data + i * a.row, a.row, a.step}, panel, b.row, c.row(i) + j, c.pitch,
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

void F32Products::Columns::fill(std::int64_t first, std::int64_t count, const Rows& rows) const {
  const F32 f32;
  const hn::Repartition<std::uint64_t, F32> u64;
  for (std::int64_t i = 0; i < count; i += kLanes) {
    float* to = data + (first + i) / kPanel * kPanel * depth + (first + i) % kPanel;
    for (std::int64_t k = 0; k < depth; k += 4) {
      const V row0 = load_blocks(f32, rows.row(i) + k, rows.pitch);
      const V row1 = load_blocks(f32, rows.row(i + 1) + k, rows.pitch);
      const V row2 = load_blocks(f32, rows.row(i + 2) + k, rows.pitch);
      const V row3 = load_blocks(f32, rows.row(i + 3) + k, rows.pitch);
      const auto low01 = hn::BitCast(u64, hn::InterleaveLower(f32, row0, row1));
      const auto low23 = hn::BitCast(u64, hn::InterleaveLower(f32, row2, row3));
      const auto high01 = hn::BitCast(u64, hn::InterleaveUpper(f32, row0, row1));
      const auto high23 = hn::BitCast(u64, hn::InterleaveUpper(f32, row2, row3));
      float* HWY_RESTRICT column = to + k * kPanel;
      hn::StoreU(hn::BitCast(f32, hn::InterleaveLower(u64, low01, low23)), f32, column);
      hn::StoreU(hn::BitCast(f32, hn::InterleaveUpper(u64, low01, low23)), f32, column + kPanel);
      hn::StoreU(hn::BitCast(f32, hn::InterleaveLower(u64, high01, high23)), f32, column + 2 * kPanel);
      hn::StoreU(hn::BitCast(f32, hn::InterleaveUpper(u64, high01, high23)), f32, column + 3 * kPanel);
    }
  }
}

}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
