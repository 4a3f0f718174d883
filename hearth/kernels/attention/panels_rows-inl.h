// The element-wise steps of attention on packed panels, between its matmuls: softmax, dropout and their gradients in
// AVX-512 on 32 x 32 blocks of scores. Results are written as panels, ready to be operands of the next matmul: as bf16
// numbers or, in fp16, as two bf16 parts each, like all operands in fp16 (gemm/panels.h). `T` is BFloat16 or Float16.

#if defined(HEARTH_KERNELS_ATTENTION_PANELS_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEARTH_KERNELS_ATTENTION_PANELS_ROWS_INL_H_
#undef HEARTH_KERNELS_ATTENTION_PANELS_ROWS_INL_H_
#else
#define HEARTH_KERNELS_ATTENTION_PANELS_ROWS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>

#include "hearth/base/dtype.h"
#include "hearth/base/rounding.h"
#include "hearth/kernels/attention/head.h"
#include "hearth/kernels/attention/kept_masks.h"
#include "hearth/kernels/attention/rows-inl.h"
#include "hearth/kernels/rows/dropout_masks-inl.h"
#include "hearth/kernels/simd/tiles.h"

#if HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {

inline constexpr std::int64_t kSide = panels::kPanel;        // rows, and columns, of a block of scores
inline constexpr std::int64_t kBlockScores = kSide * kSide;  // scores in a block
template <class T>
using Panels = panels::Panels<dtype_of<T>>;

inline constexpr float kLog2E = 1.44269504089f, kLn2 = 0.693147180560f;
inline constexpr std::int64_t kMasksOfBlock = kDropoutBlock / 16;

// Of `size` rows in panels, how many are in the last one.
inline std::int64_t last_of(std::int64_t size) { return (size - 1) % kSide + 1; }
inline std::int64_t padded(std::int64_t size) { return round_up(size, kSide); }

// Calls visitor(T()) with the C++ type T of a dtype of 16 bits.
template <class Visitor>
void visit_16_bits(DType type, const Visitor& visitor) {
  if (type == DType::f16)
    visitor(Float16());
  else
    visitor(BFloat16());
}

template <class T>
HWY_INLINE Panels<T> carve_panels(BufferCutter& cutter, std::int64_t size, std::int64_t k) {
  const std::int64_t elements = panels::panels_of(size) * panels::panel_elements(dtype_of<T>, k);
  return {reinterpret_cast<std::uint16_t*>(cutter.floats(elements / 2)), panels::blocks_of(k)};
}

HWY_INLINE std::uint16_t* carve_masks(BufferCutter& cutter, std::int64_t count) {
  return reinterpret_cast<std::uint16_t*>(cutter.floats((count + 1) / 2));
}

// The masks of one block of 128 keys and `queries` queries from `first` on, zero up to whole panels of queries.
inline HWY_NOINLINE void fill_masks(const DropoutMasks& dropout, const AttentionHead& head, std::int64_t first,
                                    std::int64_t queries, const QueryMasks& to) {
  for (std::int64_t i = 0; i < queries; ++i) dropout.of_row(head.dropout_row(first + i), to.data + i, to.step);
  for (std::int64_t row = 0; row < kMasksOfBlock; ++row)
    std::fill(to.data + row * to.step + queries, to.data + row * to.step + padded(queries), std::uint16_t{0});
}

// Rows of one head: `count` positions of `dim` numbers each.
template <class T>
struct HeadRows {
  const T* data;
  std::int64_t stride, count, dim;

  // Operands whose k is the head's dimension.
  void pack_left(const Panels<T>& to) const { pack(panels::pack_left, along_dim(), to); }    // (positions, dim)
  void pack_right(const Panels<T>& to) const { pack(panels::pack_right, along_dim(), to); }  // (dim, positions)

  // Operands whose k is the position.
  void pack_left_transposed(const Panels<T>& to) const { pack(panels::pack_left, along_positions(), to); }
  void pack_right_transposed(const Panels<T>& to) const { pack(panels::pack_right, along_positions(), to); }

 private:
  panels::Operand along_dim() const { return {data, dtype_of<T>, false, stride, true, count, dim}; }
  panels::Operand along_positions() const { return {data, dtype_of<T>, false, stride, false, dim, count}; }

  static void pack(decltype(panels::pack_left) pack_panel, const panels::Operand& operand, const Panels<T>& to) {
    for (std::int64_t panel = 0; panel < panels::panels_of(operand.size); ++panel)
      pack_panel(operand, panel, 0, panels::blocks_of(operand.k), to.at(panel, 0));
  }
};

HWY_INLINE __mmask32 first_of_panel(std::int64_t count) {
  return count >= kSide ? 0xffffffffu : (std::uint32_t{1} << count) - 1;
}
HWY_INLINE __mmask16 low_half(__mmask32 mask) { return static_cast<__mmask16>(mask); }
HWY_INLINE __mmask16 high_half(__mmask32 mask) { return static_cast<__mmask16>(mask >> 16); }

// 2^x for x below 128, with a relative error within 1e-7, and 0 in the other lanes. 2^x = 2^floor(x) 2^fraction; the
// polynomial was fitted to 2^fraction on [0, 1). The fitting script is not kept; tests/kernels/attention_panels_test.cc
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

HWY_INLINE F32Vec widened(__m256i bf16) {
  return F32Vec{_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bf16), 16))};
}

// 32 numbers as they stand in a row of an operand: bf16 numbers, or their high and their low parts.
template <class T>
struct OperandRow {
  static constexpr bool kIsSplit = dtype_of<T> == DType::f16;
  __m512i parts[kIsSplit ? 2 : 1];

  // Zero where `kept` has no bit. The low part of an infinity is NaN, so that a product with it is not finite.
  HWY_INLINE OperandRow(__mmask32 kept, F32Vec low, F32Vec high) {
    parts[0] = round_where(kept, low, high);
    if constexpr (kIsSplit)
      parts[1] = round_where(kept, hn::Sub(low, widened(_mm512_castsi512_si256(parts[0]))),
                             hn::Sub(high, widened(_mm512_extracti64x4_epi64(parts[0], 1))));
  }

  HWY_INLINE void store(std::uint16_t* to) const {
    for (const __m512i& part : parts) {
      _mm512_store_si512(to, part);
      to += kPartElements;
    }
  }

  static constexpr std::int64_t kPartElements = 2 * panels::kTileElements;  // of one part of a k block
};

// Writes two rows of an operand, neighbours along k, as pairs of a zipped right panel.
template <class T>
HWY_INLINE void store_pairs(const OperandRow<T>& even, const OperandRow<T>& odd, std::uint16_t* to) {
  for (std::size_t i = 0; i < std::size(even.parts); ++i, to += OperandRow<T>::kPartElements) {
    _mm512_store_si512(to, _mm512_unpacklo_epi16(even.parts[i], odd.parts[i]));
    _mm512_store_si512(to + panels::kTileElements, _mm512_unpackhi_epi16(even.parts[i], odd.parts[i]));
  }
}

// Rounds `low` and `high` to 32 numbers of T.
template <class T>
HWY_INLINE __m512i round_to(F32Vec low, F32Vec high) {
  if constexpr (dtype_of<T> == DType::bf16) return round_where(0xffffffffu, low, high);
  constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtps_ph(low.raw, kNearest)),
                            _mm512_cvtps_ph(high.raw, kNearest), 1);
}

template <class T>
HWY_INLINE void store_rounded(const float* row, std::int64_t dim, float factor, T* to) {
  for (std::int64_t i = 0; i < dim; i += kSide) {
    const F32Vec low = hn::Mul(hn::Load(F32(), row + i), hn::Set(F32(), factor));
    const F32Vec high = hn::Mul(hn::Load(F32(), row + i + kLanes), hn::Set(F32(), factor));
    _mm512_mask_storeu_epi16(to + i, first_of_panel(dim - i), round_to<T>(low, high));
  }
}

// Updates the running maxima (32 rows x 16 lanes) with a block of scores (32 x 32), whose first `keys` columns count.
inline HWY_NOINLINE void fold_maxima(const float* block, std::int64_t keys, bool is_first, float* HWY_RESTRICT maxima) {
  const __mmask32 valid = first_of_panel(keys);
  for (std::int64_t r = 0; r < kSide; ++r, maxima += kLanes, block += kSide) {
    __m512 max = is_first ? _mm512_set1_ps(-std::numeric_limits<float>::infinity()) : _mm512_load_ps(maxima);
    max = _mm512_mask_max_ps(max, low_half(valid), _mm512_load_ps(block), max);
    max = _mm512_mask_max_ps(max, high_half(valid), _mm512_load_ps(block + kLanes), max);
    _mm512_store_ps(maxima, max);
  }
}

// Writes 2^(scale * s - max) to a row of a left panel: zero for keys that `masks` drop, and up to whole k blocks.
// `scores` is the row in the first of the blocks (32 x 32) that hold the scores. Bit l of masks[i * mask_step] is set
// where key 16 * i + l is kept. Returns the sum over all keys, dropped ones included.
template <class T>
HWY_NOINLINE float softmax_row(const float* scores, std::int64_t keys, float scale, float max,
                               const std::uint16_t* masks, std::int64_t mask_step, std::uint16_t* to) {
  const F32 f32;
  const F32Vec scales = hn::Set(f32, scale), maxima = hn::Set(f32, max);
  F32Vec sum0 = hn::Zero(f32), sum1 = hn::Zero(f32);
  for (; keys > 0; keys -= kSide, scores += kBlockScores) {
    const __mmask32 valid = first_of_panel(keys);
    const F32Vec p0 = exp2_where(low_half(valid), hn::MulSub(hn::Load(f32, scores), scales, maxima));
    const F32Vec p1 = exp2_where(high_half(valid), hn::MulSub(hn::Load(f32, scores + kLanes), scales, maxima));
    sum0 = hn::Add(sum0, p0);
    sum1 = hn::Add(sum1, p1);
    const auto kept = static_cast<__mmask32>(masks[mask_step]) << 16 | masks[0];
    OperandRow<T>(kept, p0, p1).store(to);
    masks += 2 * mask_step;
    to += panels::block_elements(dtype_of<T>);
  }
  return hn::GetLane(hn::SumOfLanes(f32, hn::Add(sum0, sum1)));
}

// A block of 32 keys by 32 queries in backward: its inputs, and where its results go in operands of the next matmuls.
struct GradientBlock {
  const float *s, *dp;             // (32, 32)
  const float *lse, *minus_delta;  // per query
  const std::uint16_t* masks;      // [key / 16 * mask_step + query], one bit per key
  std::int64_t mask_step;
  std::uint16_t *p, *ds;  // left operands, k is the query
  std::uint16_t*
      ds_pairs;  // right operand, k is the key; zipped: panels::zipped_column says which query a column holds
};

// From scores s and dP: P = 2^(scale * s - lse) and dS = P (M dP - delta), where M is `factor` for kept elements and 0
// for dropped ones. P is written with dropped elements zero. Beyond `keys` both are zero.
template <class T>
HWY_NOINLINE void gradient_block(GradientBlock block, std::int64_t keys, float scale, float factor) {
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
    const OperandRow<T> ds(row < keys ? 0xffffffffu : 0, hn::Mul(p0, F32Vec{slope0}), hn::Mul(p1, F32Vec{slope1}));
    OperandRow<T>(kept, p0, p1).store(block.p + row * kSide);
    ds.store(block.ds + row * kSide);
    return ds;
  };
  for (std::int64_t row = 0; row < kSide; row += 2) {
    const OperandRow<T> even = gradient_row(row), odd = gradient_row(row + 1);
    store_pairs(even, odd, block.ds_pairs + row / 2 * kSide);
  }
}

}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
