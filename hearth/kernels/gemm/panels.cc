#include "hearth/kernels/gemm/panels.h"

#include <immintrin.h>

#include <algorithm>
#include <span>
#include <type_traits>
#include <utility>

// For all that is defined below; headers above keep the baseline.
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16"))), \
                             apply_to = function)
#else
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 finds both in its own intrinsics
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")
#endif

namespace hearth::kernels::panels {
namespace {

using Row = __m512i;  // 32 numbers of 16 bits, or 16 pairs

// The bf16 number that an element becomes: itself, or the high or low part of an fp16 number.
enum class Part { whole, high, low };

// What a k block holds, in this order; each is two tiles.
std::span<const Part> parts_of(DType type) {
  static constexpr Part whole[] = {Part::whole};
  static constexpr Part split[] = {Part::high, Part::low};
  if (type == DType::bf16) return whole;
  return split;
}

inline __mmask32 first(std::int64_t count) {
  return count >= 32 ? ~__mmask32{0}
                     : static_cast<__mmask32>((std::uint32_t{1} << std::max<std::int64_t>(0, count)) - 1);
}

inline Row to_bf16(__m512 low, __m512 high) {
  const __m512bh rounded = _mm512_cvtne2ps_pbh(high, low);
  return reinterpret_cast<const Row&>(rounded);
}

inline __m512 widened(__m256i bf16) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bf16), 16)); }

// `count` numbers of 16 bits from p, zeros behind them.
template <Part>
inline Row load_raw(const std::uint16_t* p, std::int64_t count) {
  return _mm512_maskz_loadu_epi16(first(count), p);
}

// The same from f32 numbers: rounded to bf16, or to fp16 if they are to be split into parts.
template <Part part>
inline Row load_raw(const float* p, std::int64_t count) {
  const __mmask32 valid = first(count);
  const __m512 low = _mm512_maskz_loadu_ps(static_cast<__mmask16>(valid), p);
  const __m512 high = _mm512_maskz_loadu_ps(static_cast<__mmask16>(valid >> 16), p + 16);
  if constexpr (part == Part::whole) return to_bf16(low, high);
  constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtps_ph(low, kNearest)), _mm512_cvtps_ph(high, kNearest), 1);
}

template <Part part, class T>
inline Row load(const T* p, std::int64_t count) {
  const Row raw = load_raw<part>(p, count);
  if constexpr (part == Part::whole) {
    return raw;
  } else {
    const __m512 low = _mm512_cvtph_ps(_mm512_castsi512_si256(raw));
    const __m512 high = _mm512_cvtph_ps(_mm512_extracti64x4_epi64(raw, 1));
    const Row rounded = to_bf16(low, high);
    if constexpr (part == Part::high) return rounded;
    return to_bf16(_mm512_sub_ps(low, widened(_mm512_castsi512_si256(rounded))),
                   _mm512_sub_ps(high, widened(_mm512_extracti64x4_epi64(rounded, 1))));
  }
}

// 32 x 32 numbers in memory, rows `ld` elements apart. Four functions below turn such a block into two tiles, depending
// on the operand (left or right) and on what its stored rows are.
struct StoredBlock {
  const std::uint16_t* data;
  std::int64_t ld;

  Row row(std::int64_t i) const { return _mm512_loadu_si512(data + i * ld); }
};
using BlockCopy = std::uint16_t[kBlock * kPanel];

// The block that begins at `data`, where the matrix has `rows` more rows and `cols` more columns: the block itself or,
// if it needs zeros behind them, or another dtype, a copy.
template <Part part, class T>
inline StoredBlock stored_block(const T* data, std::int64_t ld, std::int64_t rows, std::int64_t cols, BlockCopy& copy) {
  if constexpr (part == Part::whole && std::is_same_v<T, std::uint16_t>)
    if (rows >= kBlock && cols >= kPanel) return {data, ld};
  for (std::int64_t i = 0; i < kBlock; ++i)
    _mm512_store_si512(copy + i * kPanel, i < rows ? load<part>(data + i * ld, cols) : _mm512_setzero_si512());
  return {copy, kPanel};
}

template <class T>
inline StoredBlock stored_block(Part part, const T* data, std::int64_t ld, std::int64_t rows, std::int64_t cols,
                                BlockCopy& copy) {
  switch (part) {
    case Part::high:
      return stored_block<Part::high>(data, ld, rows, cols, copy);
    case Part::low:
      return stored_block<Part::low>(data, ld, rows, cols, copy);
    default:
      return stored_block<Part::whole>(data, ld, rows, cols, copy);
  }
}

// Writes the rows of two tiles, 0 to 31.
struct TileWriter {
  std::uint16_t* to;
  bool non_temporal = false;

  void operator()(std::int64_t i, Row row) const {
    if (non_temporal)
      _mm512_stream_si512(reinterpret_cast<Row*>(to + i * kBlock), row);
    else
      _mm512_store_si512(to + i * kBlock, row);
  }
};

// 8 columns of the rows 0, step, 2 step and 3 step from `first` on, one row per 128-bit lane. The loads put lanes in
// place, which leaves the shuffle port to the transpositions.
inline Row load_lanes(const std::uint16_t* first, std::int64_t step) {
  const auto lane = [&](std::int64_t i) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(first + i * step)); };
  Row row = _mm512_castsi128_si512(lane(0));
  row = _mm512_mask_broadcast_i32x4(row, 0x00f0, lane(1));
  row = _mm512_mask_broadcast_i32x4(row, 0x0f00, lane(2));
  return _mm512_mask_broadcast_i32x4(row, 0xf000, lane(3));
}

// Stored rows are rows of a left operand.
inline void copy_rows(const StoredBlock& block, const TileWriter& write) {
  for (std::int64_t i = 0; i < kBlock; ++i) write(i, block.row(i));
}

// Stored rows are columns of a right operand. Two neighbours along k are one element of 32 bits; a tile is the
// transpose of 16 x 16 of them.
inline void transpose_pairs(const StoredBlock& block, const TileWriter& write) {
  for (std::int64_t tile = 0; tile < 2; ++tile)
    for (std::int64_t pair = 0; pair < 16; pair += 4) {
      Row r[4];
      for (std::int64_t i = 0; i < 4; ++i)
        r[i] = load_lanes(block.data + (16 * tile + i) * block.ld + 2 * pair, 4 * block.ld);
      const Row a = _mm512_unpacklo_epi32(r[0], r[1]), b = _mm512_unpackhi_epi32(r[0], r[1]);
      const Row c = _mm512_unpacklo_epi32(r[2], r[3]), d = _mm512_unpackhi_epi32(r[2], r[3]);
      write(16 * tile + pair, _mm512_unpacklo_epi64(a, c));
      write(16 * tile + pair + 1, _mm512_unpackhi_epi64(a, c));
      write(16 * tile + pair + 2, _mm512_unpacklo_epi64(b, d));
      write(16 * tile + pair + 3, _mm512_unpackhi_epi64(b, d));
    }
}

// Stored rows are steps along k of a right operand: two rows are interleaved. Interleaving works within lanes, so
// `arrange` first gives each lane the columns that it is to hold.
template <class Arrange>
inline void interleave_rows(const StoredBlock& block, const TileWriter& write, const Arrange& arrange) {
  for (std::int64_t i = 0; i < 16; ++i) {
    const Row even = arrange(block.row(2 * i)), odd = arrange(block.row(2 * i + 1));
    write(i, _mm512_unpacklo_epi16(even, odd));
    write(16 + i, _mm512_unpackhi_epi16(even, odd));
  }
}

// Columns in order: the lanes hold the columns 0-3 and 16-19, 4-7 and 20-23, ...
inline Row in_order(Row row) { return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7), row); }
// Columns as the lanes have them (panels.h, zipped_column).
inline Row zipped(Row row) { return row; }

// 8 x 8 of 16 bits in each lane.
inline void transpose_lanes(Row (&r)[8]) {
  Row t[8];
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm512_unpacklo_epi16(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi16(r[i], r[i + 1]);
  }
  for (int half = 0; half < 2; ++half) {
    const Row a = _mm512_unpacklo_epi32(t[half], t[half + 2]), b = _mm512_unpackhi_epi32(t[half], t[half + 2]);
    const Row c = _mm512_unpacklo_epi32(t[half + 4], t[half + 6]), d = _mm512_unpackhi_epi32(t[half + 4], t[half + 6]);
    r[4 * half] = _mm512_unpacklo_epi64(a, c);
    r[4 * half + 1] = _mm512_unpackhi_epi64(a, c);
    r[4 * half + 2] = _mm512_unpacklo_epi64(b, d);
    r[4 * half + 3] = _mm512_unpackhi_epi64(b, d);
  }
}

// Stored rows are steps along k of a left operand.
inline void transpose_numbers(const StoredBlock& block, const TileWriter& write) {
  for (std::int64_t col = 0; col < kPanel; col += 8) {
    Row r[8];
    for (std::int64_t i = 0; i < 8; ++i) r[i] = load_lanes(block.data + i * block.ld + col, 8 * block.ld);
    transpose_lanes(r);
    for (std::int64_t i = 0; i < 8; ++i) write(col + i, r[i]);
  }
}

template <class T>
void pack_from(const Operand& operand, bool left, std::int64_t panel, std::int64_t begin, std::int64_t end,
               std::uint16_t* packed) {
  alignas(64) BlockCopy copy;
  const bool rows_along_k = !operand.k_is_contiguous;
  for (std::int64_t k = begin * kBlock; k < end * kBlock; k += kBlock)
    for (const Part part : parts_of(operand.type)) {
      const std::int64_t at = panel * kPanel;
      std::int64_t row = at, col = k, rows = operand.size - at, cols = operand.k - k;
      if (rows_along_k) {
        std::swap(row, col);
        std::swap(rows, cols);
      }
      const T* const data = static_cast<const T*>(operand.data) + row * operand.ld + col;
      const StoredBlock block = stored_block(part, data, operand.ld, rows, cols, copy);
      const TileWriter write{packed, operand.non_temporal};
      if (left && rows_along_k)
        transpose_numbers(block, write);
      else if (left)
        copy_rows(block, write);
      else if (rows_along_k)
        interleave_rows(block, write, in_order);
      else
        transpose_pairs(block, write);
      packed += 2 * kTileElements;
    }
}

void pack(const Operand& operand, bool left, std::int64_t panel, std::int64_t begin, std::int64_t end,
          std::uint16_t* packed) {
  if (operand.is_f32)
    pack_from<float>(operand, left, panel, begin, end, packed);
  else
    pack_from<std::uint16_t>(operand, left, panel, begin, end, packed);
}

inline StoredBlock block_of(const TokenRows& rows, Part part, std::int64_t token, std::int64_t col, BlockCopy& copy) {
  return stored_block(part, rows.block(token, col), rows.block_pitch(), rows.tokens - token, rows.cols - col, copy);
}

}  // namespace

void prefetch_block(const TokenRows& rows, std::int64_t token, std::int64_t col) {
  const std::uint16_t* const first = rows.block(token, col);
  for (std::int64_t i = 0; i < std::min(kBlock, rows.tokens - token); ++i)
    _mm_prefetch(reinterpret_cast<const char*>(first + i * rows.block_pitch()), _MM_HINT_T0);
}

void pack_left_block(const TokenRows& rows, std::int64_t token, std::int64_t col, std::uint16_t* to) {
  alignas(64) BlockCopy copy;
  for (const Part part : parts_of(rows.type)) {
    transpose_numbers(block_of(rows, part, token, col, copy), TileWriter{to});
    to += 2 * kTileElements;
  }
}

void pack_zipped_right_block(const TokenRows& rows, std::int64_t token, std::int64_t col, std::uint16_t* to) {
  alignas(64) BlockCopy copy;
  for (const Part part : parts_of(rows.type)) {
    interleave_rows(block_of(rows, part, token, col, copy), TileWriter{to}, zipped);
    to += 2 * kTileElements;
  }
}

void add_columns(const TokenRows& rows, std::int64_t token, std::int64_t col, float* sums) {
  const std::uint16_t* const first = rows.block(token, col);
  const std::int64_t pitch = rows.block_pitch();
  __m512 low = _mm512_loadu_ps(sums), high = _mm512_loadu_ps(sums + 16);
  for (std::int64_t i = 0; i < std::min(kBlock, rows.tokens - token); ++i) {
    const Row row = load_raw<Part::whole>(first + i * pitch, rows.cols - col);
    const __m256i left = _mm512_castsi512_si256(row), right = _mm512_extracti64x4_epi64(row, 1);
    const bool is_bf16 = rows.type == DType::bf16;
    low = _mm512_add_ps(low, is_bf16 ? widened(left) : _mm512_cvtph_ps(left));
    high = _mm512_add_ps(high, is_bf16 ? widened(right) : _mm512_cvtph_ps(right));
  }
  _mm512_storeu_ps(sums, low);
  _mm512_storeu_ps(sums + 16, high);
}

void add_floats(std::int64_t count, const float* x, float* sums) {
  for (std::int64_t i = 0; i < count; i += 16) {
    const auto lanes = static_cast<__mmask16>(first(std::min<std::int64_t>(16, count - i)));
    _mm512_mask_storeu_ps(sums + i, lanes,
                          _mm512_add_ps(_mm512_maskz_loadu_ps(lanes, sums + i), _mm512_maskz_loadu_ps(lanes, x + i)));
  }
}

double unzip(ZippedSums sums, float* to, std::int64_t ld, UnzipOptions options) {
  const Row lower = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), upper = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  __m512d squares0 = _mm512_setzero_pd(), squares1 = _mm512_setzero_pd();
  for (std::int64_t row = 0; row < sums.rows; ++row, to += ld)
    for (std::int64_t col = 0; col < sums.cols; col += kPanel) {
      const float* const zipped = sums.data + (col / kPanel * sums.memory_rows + row) * kPanel;
      const Row one = _mm512_loadu_si512(zipped), two = _mm512_loadu_si512(zipped + 16);
      const __mmask32 valid = first(sums.cols - col);
      const auto put = [&](const Row& order, __mmask16 lanes, float* at) {
        __m512 values = _mm512_castsi512_ps(_mm512_permutex2var_epi64(one, order, two));
        if (options.accumulate) values = _mm512_add_ps(_mm512_maskz_loadu_ps(lanes, at), values);
        if (options.non_temporal && lanes == 0xffff)
          _mm512_stream_ps(at, values);
        else
          _mm512_mask_storeu_ps(at, lanes, values);
        if (!options.squares) return;
        values = _mm512_maskz_mov_ps(lanes, values);
        const __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256(values));
        const __m512d high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(values, 1));
        squares0 = _mm512_fmadd_pd(low, low, squares0);
        squares1 = _mm512_fmadd_pd(high, high, squares1);
      };
      put(lower, static_cast<__mmask16>(valid), to + col);
      put(upper, static_cast<__mmask16>(valid >> 16), to + col + 16);
    }
  return _mm512_reduce_add_pd(_mm512_add_pd(squares0, squares1));
}

void pack_left(const Operand& operand, std::int64_t panel, std::int64_t begin, std::int64_t end,
               std::uint16_t* packed) {
  pack(operand, true, panel, begin, end, packed);
}

void pack_right(const Operand& operand, std::int64_t panel, std::int64_t begin, std::int64_t end,
                std::uint16_t* packed) {
  pack(operand, false, panel, begin, end, packed);
}

void finish_stores() { _mm_sfence(); }

}  // namespace hearth::kernels::panels

#ifdef __clang__
#pragma clang attribute pop
#endif
