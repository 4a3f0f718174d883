// The element-wise steps of attention on AMX, between its matmuls: softmax, dropout and their gradients in AVX-512 on
// 32 x 32 blocks of scores. Results are written as bf16 panels, ready to be operands of the next matmul.

#if defined(HEARTH_KERNELS_ATTENTION_AMX_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEARTH_KERNELS_ATTENTION_AMX_ROWS_INL_H_
#undef HEARTH_KERNELS_ATTENTION_AMX_ROWS_INL_H_
#else
#define HEARTH_KERNELS_ATTENTION_AMX_ROWS_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <limits>

#include "hearth/base/rounding.h"
#include "hearth/kernels/attention/rows-inl.h"
#include "hearth/kernels/rows/dropout_masks-inl.h"
#include "hearth/kernels/simd/amx_tiles.h"

#if HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {

inline constexpr std::int64_t kSide = amx::kPanel;  // rows and columns of a block of scores
using amx::Panels;

inline constexpr float kLog2E = 1.44269504089f, kLn2 = 0.693147180560f;
inline constexpr std::int64_t kMasksOfBlock = kDropoutBlock / 16;

inline std::int64_t padded(std::int64_t size) { return round_up(size, kSide); }

HWY_INLINE Panels carve_panels(BufferCutter& cutter, std::int64_t size, std::int64_t k) {
  const std::int64_t elements = amx::panels_of(size) * amx::panel_elements(DType::bf16, k);
  return {reinterpret_cast<std::uint16_t*>(cutter.floats(elements / 2)), amx::blocks_of(k)};
}

HWY_INLINE std::uint16_t* carve_masks(BufferCutter& cutter, std::int64_t count) {
  return reinterpret_cast<std::uint16_t*>(cutter.floats((count + 1) / 2));
}

// Rows of one head: `count` positions of `dim` numbers each.
struct HeadRows {
  const BFloat16* data;
  std::int64_t stride, count, dim;

  // Operands whose k is the head's dimension.
  void pack_left(const Panels& to) const { pack(amx::pack_left, along_dim(), to); }    // (positions, dim)
  void pack_right(const Panels& to) const { pack(amx::pack_right, along_dim(), to); }  // (dim, positions)

  // Operands whose k is the position.
  void pack_left_transposed(const Panels& to) const { pack(amx::pack_left, along_positions(), to); }
  void pack_right_transposed(const Panels& to) const { pack(amx::pack_right, along_positions(), to); }

 private:
  amx::Operand along_dim() const { return {data, DType::bf16, false, stride, true, count, dim}; }
  amx::Operand along_positions() const { return {data, DType::bf16, false, stride, false, dim, count}; }

  static void pack(decltype(amx::pack_left) pack_panel, const amx::Operand& operand, const Panels& to) {
    for (std::int64_t panel = 0; panel < amx::panels_of(operand.size); ++panel)
      pack_panel(operand, panel, 0, amx::blocks_of(operand.k), to.at(panel, 0));
  }
};

HWY_INLINE __mmask32 first_of_panel(std::int64_t count) {
  return count >= kSide ? 0xffffffffu : (std::uint32_t{1} << count) - 1;
}
HWY_INLINE __mmask16 low_half(__mmask32 mask) { return static_cast<__mmask16>(mask); }
HWY_INLINE __mmask16 high_half(__mmask32 mask) { return static_cast<__mmask16>(mask >> 16); }

// 2^x for x below 128, with a relative error within 1e-7, and 0 in the other lanes. 2^x = 2^floor(x) 2^fraction; the
// polynomial was fitted to 2^fraction on [0, 1). The fitting script is not kept; tests/kernels/attention_amx_test.cc
// checks the error.
HWY_INLINE F32Vec exp2_where(__mmask16 lanes, F32Vec x) {
  const F32Vec fraction{_mm512_maskz_reduce_ps(0xffff, x.raw, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)};
  constexpr float kCoefficients[] = {
      1, 6.93151311805e-1f, 2.40164450153e-1f, 5.57999131097e-2f, 9.01703031588e-3f, 1.86713007244e-3f};
  // scalef multiplies by 2^floor(x): it rounds its exponent down.
  return F32Vec{_mm512_maskz_scalef_ps(lanes, polynomial(F32(), fraction, kCoefficients).raw, x.raw)};
}

// Rounds `low` and `high` to 32 bf16 numbers, zero where `kept` has no bit. Inline assembly, because Highway's AVX-512
// target does not include AVX512-BF16.
HWY_INLINE __m512i round_where(__mmask32 kept, F32Vec low, F32Vec high) {
  __m512i rounded;
  asm("vcvtne2ps2bf16 %1, %2, %0%{%3%}%{z%}" : "=v"(rounded) : "v"(low.raw), "v"(high.raw), "Yk"(kept));
  return rounded;
}

HWY_INLINE void store_rounded(const float* row, std::int64_t dim, float factor, BFloat16* to) {
  for (std::int64_t i = 0; i < dim; i += kSide) {
    const F32Vec low = hn::Mul(hn::Load(F32(), row + i), hn::Set(F32(), factor));
    const F32Vec high = hn::Mul(hn::Load(F32(), row + i + kLanes), hn::Set(F32(), factor));
    _mm512_mask_storeu_epi16(to + i, first_of_panel(dim - i), round_where(0xffffffffu, low, high));
  }
}

// Updates the running maxima (32 rows x 16 lanes) with up to 32 more keys of each row.
inline HWY_NOINLINE void fold_maxima(const Matrix& scores, std::int64_t first_key, std::int64_t keys,
                                     float* HWY_RESTRICT maxima) {
  const __mmask32 valid = first_of_panel(keys - first_key);
  for (std::int64_t r = 0; r < kSide; ++r, maxima += kLanes) {
    const float* row = scores.row(r) + first_key;
    __m512 max = first_key == 0 ? _mm512_set1_ps(-std::numeric_limits<float>::infinity()) : _mm512_load_ps(maxima);
    max = _mm512_mask_max_ps(max, low_half(valid), _mm512_load_ps(row), max);
    max = _mm512_mask_max_ps(max, high_half(valid), _mm512_load_ps(row + kLanes), max);
    _mm512_store_ps(maxima, max);
  }
}

// Writes 2^(scale * s - max) to a row of a left panel: zero for keys that `masks` drop, and up to whole k blocks.
// Returns the sum over all keys, dropped ones included.
inline HWY_NOINLINE float softmax_row(const float* scores, std::int64_t keys, float scale, float max,
                                      const std::uint16_t* masks, std::uint16_t* to) {
  const F32 f32;
  const F32Vec scales = hn::Set(f32, scale), maxima = hn::Set(f32, max);
  F32Vec sum0 = hn::Zero(f32), sum1 = hn::Zero(f32);
  for (std::int64_t j = 0; j < keys; j += kSide, to += 2 * amx::kTileElements) {
    const __mmask32 valid = first_of_panel(keys - j);
    const F32Vec p0 = exp2_where(low_half(valid), hn::MulSub(hn::Load(f32, scores + j), scales, maxima));
    const F32Vec p1 = exp2_where(high_half(valid), hn::MulSub(hn::Load(f32, scores + j + kLanes), scales, maxima));
    sum0 = hn::Add(sum0, p0);
    sum1 = hn::Add(sum1, p1);
    const auto kept = static_cast<__mmask32>(masks[j / 16 + 1]) << 16 | masks[j / 16];
    _mm512_store_si512(to, round_where(kept, p0, p1));
  }
  return hn::GetLane(hn::SumOfLanes(f32, hn::Add(sum0, sum1)));
}

// A block of 32 keys by 32 queries in backward: its inputs, and where its results go in operands of the next matmuls.
struct GradientBlock {
  const float *s, *dp;             // (32, 32)
  const float *lse, *minus_delta;  // per query
  const std::uint16_t* masks;      // [key / 16 * mask_step + query], one bit per key
  std::int64_t mask_step;
  std::uint16_t *p, *ds;    // left operands, k is the query
  std::uint16_t* ds_pairs;  // right operand, k is the key; zipped: amx::zipped_column says which query a column holds
};

// From scores s and dP: P = 2^(scale * s - lse) and dS = P (M dP - delta), where M is `factor` for kept elements and 0
// for dropped ones. P is written with dropped elements zero. Beyond `keys` both are zero.
inline HWY_NOINLINE void gradient_block(GradientBlock block, std::int64_t keys, float scale, float factor) {
  const F32 f32;
  const F32Vec scales = hn::Set(f32, scale), factors = hn::Set(f32, factor);
  const F32Vec lse0 = hn::Load(f32, block.lse), lse1 = hn::Load(f32, block.lse + kLanes);
  const F32Vec delta0 = hn::Load(f32, block.minus_delta), delta1 = hn::Load(f32, block.minus_delta + kLanes);

  const auto gradient_row = [&](std::int64_t row) HWY_ATTR {
    const __mmask16 valid = row < keys ? 0xffff : 0;
    const float *s = block.s + row * kSide, *dp = block.dp + row * kSide;
    const __m512i masks = _mm512_loadu_si512(block.masks + row / 16 * block.mask_step);
    const __mmask32 kept = _mm512_test_epi16_mask(masks, _mm512_set1_epi16(static_cast<short>(1 << row % 16)));

    const F32Vec p0 = exp2_where(valid, hn::MulSub(hn::Load(f32, s), scales, lse0));
    const F32Vec p1 = exp2_where(valid, hn::MulSub(hn::Load(f32, s + kLanes), scales, lse1));
    const __m512 slope0 = _mm512_mask3_fmadd_ps(_mm512_load_ps(dp), factors.raw, delta0.raw, low_half(kept));
    const __m512 slope1 = _mm512_mask3_fmadd_ps(_mm512_load_ps(dp + kLanes), factors.raw, delta1.raw, high_half(kept));
    const __m512i ds = round_where(0xffffffffu, hn::Mul(p0, F32Vec{slope0}), hn::Mul(p1, F32Vec{slope1}));
    _mm512_store_si512(block.p + row * kSide, round_where(kept, p0, p1));
    _mm512_store_si512(block.ds + row * kSide, ds);
    return ds;
  };
  for (std::int64_t row = 0; row < kSide; row += 2) {
    const __m512i even = gradient_row(row), odd = gradient_row(row + 1);
    std::uint16_t* pairs = block.ds_pairs + row / 2 * kSide;
    _mm512_store_si512(pairs, _mm512_unpacklo_epi16(even, odd));
    _mm512_store_si512(pairs + amx::kTileElements, _mm512_unpackhi_epi16(even, odd));
  }
}

}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
