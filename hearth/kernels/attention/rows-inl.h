// The row-wise steps of attention between its matmuls, in f32.

#if defined(HEARTH_KERNELS_ATTENTION_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEARTH_KERNELS_ATTENTION_ROWS_INL_H_
#undef HEARTH_KERNELS_ATTENTION_ROWS_INL_H_
#else
#define HEARTH_KERNELS_ATTENTION_ROWS_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "hearth/kernels/attention/head.h"
#include "hearth/kernels/attention/products-inl.h"
#include "hearth/kernels/rows/dropout-inl.h"
#include "hearth/kernels/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {

// Dropout's factors for the probabilities of one query, one block of keys at a time; all ones without dropout.
class AttentionDropout {
 public:
  AttentionDropout(const AttentionHead& head, std::int64_t query)
      : dropout_(head.args.dropout), sample_(head.sample()), row_(head.dropout_row(query)) {
    if (!dropout_.active()) std::ranges::fill(factors_, 1.0f);
  }

  // For the kDropoutBlock keys from `first`, which is a multiple of kDropoutBlock.
  HWY_INLINE const float* factors(std::int64_t first) {
    if (dropout_.active())
      dropout_block(F32(), dropout_.key, sample_, row_, static_cast<std::uint32_t>(first / kDropoutBlock),
                    dropout_.threshold(), dropout_.scale(), factors_);
    return factors_;
  }

 private:
  const Dropout& dropout_;
  std::uint32_t sample_, row_;
  HWY_ALIGN float factors_[kDropoutBlock];
};

template <class T>
HWY_INLINE void store_row(const float* row, std::int64_t dim, float factor, T* to) {
  for_vectors(F32(), dim, [&](std::int64_t i, auto lanes) HWY_ATTR {
    lanes.store(F32(), hn::Mul(hn::LoadU(F32(), row + i), hn::Set(F32(), factor)), to + i);
  });
}

template <class T>
HWY_INLINE float dot_row(const T* a, const T* b, std::int64_t dim) {
  return sum_vectors(F32(), dim, [&](std::int64_t i, auto lanes) HWY_ATTR {
    return hn::Mul(lanes.load(F32(), a + i), lanes.load(F32(), b + i));
  });
}

}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
