#include "hearth/kernels/simd/vector_tiles.h"

#include <immintrin.h>

#include <cassert>
#include <cstring>
#include <type_traits>

#include "hearth/base/rounding.h"

// For all that is defined below; headers above keep the baseline.
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16"))), \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")
#endif

namespace hearth::kernels::panels {
namespace {

inline __m512bh pairs(const std::uint16_t* p) { return reinterpret_cast<__m512bh>(_mm512_loadu_si512(p)); }
inline __m512bh pair_everywhere(const std::uint16_t* p) {
  int both;
  std::memcpy(&both, p, sizeof both);
  return reinterpret_cast<__m512bh>(_mm512_set1_epi32(both));
}

// Adds up `rows` rows and `vectors` times 16 columns in registers: a pair of numbers of a row, in all lanes, times the
// pairs of 16 columns. Of the last k block, `last_pairs` pairs count. With 12 x 2 sums 24 multiplications need 14
// loads; 8 x 2 are a twentieth slower.
template <std::int64_t rows, std::int64_t vectors>
void multiply_rows(const LeftPanel& left, const std::uint16_t* right, std::int64_t depth, std::int64_t last_pairs,
                   float* sums, std::int64_t pitch, bool accumulate) {
  __m512 c[rows][vectors];
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < vectors; ++j)
      c[i][j] = accumulate ? _mm512_loadu_ps(sums + i * pitch + 16 * j) : _mm512_setzero_ps();
  const std::uint16_t* a = left.data;
  const auto add_pairs = [&](std::int64_t pair) {
    __m512bh b[vectors];
    for (std::int64_t j = 0; j < vectors; ++j) b[j] = pairs(right + j * kTileElements + 32 * pair);
#pragma GCC unroll 16
    for (std::int64_t i = 0; i < rows; ++i) {
      const __m512bh everywhere = pair_everywhere(a + i * left.pitch + 2 * pair);
      for (std::int64_t j = 0; j < vectors; ++j) c[i][j] = _mm512_dpbf16_ps(c[i][j], everywhere, b[j]);
    }
  };
  for (std::int64_t k = 1; k < depth; ++k, a += left.next_block, right += 2 * kTileElements)
#pragma GCC unroll 4
    for (std::int64_t pair = 0; pair < kBlock / 2; ++pair) add_pairs(pair);
  for (std::int64_t pair = 0; pair < last_pairs; ++pair) add_pairs(pair);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < vectors; ++j) _mm512_storeu_ps(sums + i * pitch + 16 * j, c[i][j]);
}

}  // namespace

void VectorTiles::multiply([[maybe_unused]] DType type, const LeftPanel& left, const std::uint16_t* right,
                           std::int64_t depth, float* sums, std::int64_t pitch, bool accumulate, const Wanted& wanted) {
  assert(type == DType::bf16 && depth > 0);
  const auto run = [&](auto rows, std::int64_t row) {
    const auto multiply = wanted.cols <= 16 ? multiply_rows<rows(), 1> : multiply_rows<rows(), 2>;
    LeftPanel from = left;
    from.data += row * left.pitch;
    multiply(from, right, depth, divide_up(wanted.last_steps, 2), sums + row * pitch, pitch, accumulate);
  };
  constexpr std::integral_constant<std::int64_t, 8> eight;
  constexpr std::integral_constant<std::int64_t, 12> twelve;
  if (wanted.rows > 24) return run(twelve, 0), run(twelve, 12), run(eight, 24);
  if (wanted.rows > 20) return run(twelve, 0), run(twelve, 12);
  if (wanted.rows > 16) return run(twelve, 0), run(eight, 12);
  if (wanted.rows > 12) return run(eight, 0), run(eight, 8);
  if (wanted.rows > 8) return run(twelve, 0);
  run(eight, 0);
}

}  // namespace hearth::kernels::panels

#ifdef __clang__
#pragma clang attribute pop
#endif
