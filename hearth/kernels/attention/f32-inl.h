// The matmuls of attention in f32, from inputs of any dtype.

#if defined(HEARTH_KERNELS_ATTENTION_F32_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEARTH_KERNELS_ATTENTION_F32_INL_H_
#undef HEARTH_KERNELS_ATTENTION_F32_INL_H_
#else
#define HEARTH_KERNELS_ATTENTION_F32_INL_H_
#endif

#include "hearth/kernels/attention/products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {

// Rows of T as an operand of either side.
template <class T>
struct WidenedRows : Matrix {
  using Matrix::Matrix;

  HWY_NOINLINE void fill(std::int64_t count, std::int64_t cols, const T* from, std::int64_t stride) const {
    for (std::int64_t i = 0; i < count; ++i)
      for_vectors(F32(), cols, [&](std::int64_t j, auto lanes) HWY_ATTR {
        hn::StoreU(lanes.load(F32(), from + i * stride + j), F32(), row(i) + j);
      });
  }
  LeftOperand left(std::int64_t i) const { return {row(i), pitch, 1}; }
  RightOperand right(std::int64_t k) const { return {row(k), kPanel, pitch}; }
};

// A right operand from rows of T that are its columns.
template <class T>
struct WidenedColumns : Columns {
  using Columns::Columns;

  HWY_NOINLINE void fill(std::int64_t count, std::int64_t cols, const T* from, std::int64_t stride) const {
    for (std::int64_t n = 0; n < count; n += kLanes) {
      WidenedRows<T>(some_rows.data, some_rows.pitch)
          .fill(std::min(kLanes, count - n), cols, from + n * stride, stride);
      transpose(n);
    }
  }
};

// The result of one matmul that becomes the left operand of others.
struct Scores : Matrix {
  using Matrix::Matrix;

  LeftOperand left() const { return {data, pitch, 1}; }
  LeftOperand left_transposed() const { return {data, 1, pitch}; }
};

}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
