#include "hearth/kernels/gemm/amx_pack.h"

#include <immintrin.h>

#include <algorithm>
#include <span>

// For all that is defined below; headers above keep the baseline.
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16"))), \
                             apply_to = function)
#else
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 finds both in its own intrinsics
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")
#endif

namespace hearth::kernels::amx {
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
template <Part part>
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

// 16 x 16 of 32 bits.
inline void transpose(Row (&r)[16]) {
  Row t[16];
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
  for (int i = 0; i < 16; i += 8)
    for (int j = 0; j < 4; ++j) {
      t[i + j] = _mm512_shuffle_i32x4(r[i + j], r[i + j + 4], 0x88);
      t[i + j + 4] = _mm512_shuffle_i32x4(r[i + j], r[i + j + 4], 0xdd);
    }
  for (int j = 0; j < 8; ++j) {
    r[j] = _mm512_shuffle_i32x4(t[j], t[j + 8], 0x88);
    r[j + 8] = _mm512_shuffle_i32x4(t[j], t[j + 8], 0xdd);
  }
}

inline void store(const Row (&rows)[16], std::uint16_t* tile, bool non_temporal) {
  if (non_temporal)
    for (int i = 0; i < 16; ++i) _mm512_stream_si512(reinterpret_cast<Row*>(tile + 32 * i), rows[i]);
  else
    for (int i = 0; i < 16; ++i) _mm512_store_si512(tile + 32 * i, rows[i]);
}

// 16 rows of 32 steps along k, in memory order.
template <Part part, class T>
inline void load_rows(const Operand& operand, std::int64_t row, std::int64_t k, Row (&rows)[16]) {
  for (std::int64_t i = 0; i < 16; ++i)
    rows[i] = row + i < operand.size
                  ? load<part>(static_cast<const T*>(operand.data) + (row + i) * operand.ld + k, operand.k - k)
                  : _mm512_setzero_si512();
}

// 16 pairs along k for 32 positions of the other axis: left[i] has pair i of positions 0-15, right[i] of 16-31.
template <Part part, class T>
inline void load_pairs(const Operand& operand, std::int64_t col, std::int64_t k, Row (&left)[16], Row (&right)[16]) {
  const auto row_at = [&](std::int64_t at) {
    return at < operand.k ? load<part>(static_cast<const T*>(operand.data) + at * operand.ld + col, operand.size - col)
                          : _mm512_setzero_si512();
  };
  for (std::int64_t i = 0; i < 16; ++i) {
    const Row even = row_at(k + 2 * i), odd = row_at(k + 2 * i + 1);
    // Interleaving works within lanes of 128 bits: low has the columns 0-3, 8-11, 16-19, 24-27, high the others.
    const Row low = _mm512_unpacklo_epi16(even, odd), high = _mm512_unpackhi_epi16(even, odd);
    const Row first_half = _mm512_shuffle_i64x2(low, high, 0x44), second_half = _mm512_shuffle_i64x2(low, high, 0xee);
    left[i] = _mm512_shuffle_i64x2(first_half, first_half, 0xd8);
    right[i] = _mm512_shuffle_i64x2(second_half, second_half, 0xd8);
  }
}

// One part of one k block from element `at` of the other axis on.
template <Part part, class T>
void pack_as(const Operand& operand, bool left, std::int64_t at, std::int64_t k, std::uint16_t* packed) {
  Row one[16], two[16];
  if (operand.k_is_contiguous) {
    load_rows<part, T>(operand, at, k, one);
    load_rows<part, T>(operand, at + 16, k, two);
  } else {
    load_pairs<part, T>(operand, at, k, one, two);
  }
  // Rows along k are tiles of a left operand, pairs along k tiles of a right one; each is the other's transpose.
  if (operand.k_is_contiguous != left) {
    transpose(one);
    transpose(two);
  }
  store(one, packed, operand.non_temporal);
  store(two, packed + kTileElements, operand.non_temporal);
}

template <Part part>
void pack_part(const Operand& operand, bool left, std::int64_t at, std::int64_t k, std::uint16_t* packed) {
  if (operand.is_f32)
    pack_as<part, float>(operand, left, at, k, packed);
  else
    pack_as<part, std::uint16_t>(operand, left, at, k, packed);
}

void pack(const Operand& operand, bool left, std::int64_t panel, std::int64_t begin, std::int64_t end,
          std::uint16_t* packed) {
  for (std::int64_t block = begin; block < end; ++block)
    for (const Part part : parts_of(operand.type)) {
      const std::int64_t at = panel * kPanel, k = block * kBlock;
      switch (part) {
        case Part::whole:
          pack_part<Part::whole>(operand, left, at, k, packed);
          break;
        case Part::high:
          pack_part<Part::high>(operand, left, at, k, packed);
          break;
        case Part::low:
          pack_part<Part::low>(operand, left, at, k, packed);
          break;
      }
      packed += 2 * kTileElements;
    }
}

// A block of TokenRows: where it is or, if it needs zeros or one part of its numbers, a copy.
struct Block {
  const std::uint16_t* data;
  std::int64_t ld;
};
using BlockCopy = std::uint16_t[kBlock * kPanel];

template <Part part>
inline Block block_of(const TokenRows& rows, std::int64_t token, std::int64_t col, BlockCopy& copy) {
  const std::uint16_t* const first = rows.block(token, col);
  const std::int64_t pitch = rows.block_pitch();
  if (part == Part::whole && token + kBlock <= rows.tokens && col + kPanel <= rows.cols) return {first, pitch};
  for (std::int64_t i = 0; i < kBlock; ++i)
    _mm512_store_si512(copy + i * kPanel, token + i < rows.tokens ? load<part>(first + i * pitch, rows.cols - col)
                                                                  : _mm512_setzero_si512());
  return {copy, kPanel};
}

inline Block block_of(const TokenRows& rows, Part part, std::int64_t token, std::int64_t col, BlockCopy& copy) {
  switch (part) {
    case Part::high:
      return block_of<Part::high>(rows, token, col, copy);
    case Part::low:
      return block_of<Part::low>(rows, token, col, copy);
    default:
      return block_of<Part::whole>(rows, token, col, copy);
  }
}

// 8 columns of the rows 0, 8, 16 and 24 from `first` on, one per 128-bit lane. The loads put lanes in place, which
// leaves the shuffle port to transpose_lanes.
inline Row load_lanes(const std::uint16_t* first, std::int64_t ld) {
  const auto lane = [&](std::int64_t i) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(first + 8 * i * ld));
  };
  Row row = _mm512_castsi128_si512(lane(0));
  row = _mm512_mask_broadcast_i32x4(row, 0x00f0, lane(1));
  row = _mm512_mask_broadcast_i32x4(row, 0x0f00, lane(2));
  return _mm512_mask_broadcast_i32x4(row, 0xf000, lane(3));
}

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

}  // namespace

void pack_left_block(const TokenRows& rows, std::int64_t token, std::int64_t col, std::uint16_t* to) {
  alignas(64) BlockCopy copy;
  for (const Part part : parts_of(rows.type)) {
    const Block block = block_of(rows, part, token, col, copy);
    for (std::int64_t c = 0; c < kPanel; c += 8) {
      Row r[8];
      for (std::int64_t i = 0; i < 8; ++i) r[i] = load_lanes(block.data + i * block.ld + c, block.ld);
      transpose_lanes(r);
      for (std::int64_t i = 0; i < 8; ++i) _mm512_store_si512(to + (c + i) * kBlock, r[i]);
    }
    to += 2 * kTileElements;
  }
}

void pack_zipped_right_block(const TokenRows& rows, std::int64_t token, std::int64_t col, std::uint16_t* to) {
  alignas(64) BlockCopy copy;
  for (const Part part : parts_of(rows.type)) {
    const Block block = block_of(rows, part, token, col, copy);
    for (std::int64_t i = 0; i < 16; ++i) {
      const Row even = _mm512_loadu_si512(block.data + 2 * i * block.ld);
      const Row odd = _mm512_loadu_si512(block.data + (2 * i + 1) * block.ld);
      _mm512_store_si512(to + 32 * i, _mm512_unpacklo_epi16(even, odd));
      _mm512_store_si512(to + kTileElements + 32 * i, _mm512_unpackhi_epi16(even, odd));
    }
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
      const float* const zipped = sums.data + row * sums.ld + col;
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

}  // namespace hearth::kernels::amx

#ifdef __clang__
#pragma clang attribute pop
#endif
