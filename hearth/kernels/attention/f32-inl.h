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

// The contract of `Products` in attention_{forward,backward}-inl.h: pack operands from rows of T and from rows of
// scores, and multiply them.
template <class T>
struct F32Products {
  static constexpr std::int64_t kPerCell = 1;

  struct Rows : Matrix {
    using Matrix::Matrix;

    HWY_NOINLINE void fill(std::int64_t count, std::int64_t cols, const T* from, std::int64_t stride) const {
      for (std::int64_t i = 0; i < count; ++i)
        for_vectors(F32(), cols, [&](std::int64_t j, auto lanes) HWY_ATTR {
          hn::StoreU(lanes.load(F32(), from + i * stride + j), F32(), row(i) + j);
        });
    }
    LeftCells left(std::int64_t i) const { return {row(i), pitch, 1}; }
    RightCells right(std::int64_t k) const { return {row(k), kPanel, pitch}; }
  };
  using LeftRows = Rows;
  using RightRows = Rows;
  using BothRows = Rows;

  struct RightColumns : Columns {
    using Columns::Columns;

    HWY_NOINLINE void fill(std::int64_t count, std::int64_t cols, const T* from, std::int64_t stride) const {
      for (std::int64_t n = 0; n < count; n += kLanes) {
        Rows(some_rows.data, some_rows.pitch).fill(std::min(kLanes, count - n), cols, from + n * stride, stride);
        transpose(n);
      }
    }
  };

  // The result of one matmul that becomes the left operand of others.
  struct Scores : Matrix {
    using Matrix::Matrix;

    LeftCells left(std::int64_t /*rows*/, std::int64_t /*cols*/) const { return {data, pitch, 1}; }
    LeftCells left_transposed(std::int64_t /*rows*/, std::int64_t /*cols*/) const { return {data, 1, pitch}; }
  };

  struct MultiplyAdd {
    HWY_INLINE F32Vec operator()(F32Vec a, F32Vec b, F32Vec sum) const { return hn::MulAdd(a, b, sum); }
  };
  static void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const LeftCells& a, const RightCells& b,
                       const Matrix& c, bool accumulate) {
    BlockProduct<MultiplyAdd>::run(m, n, k, a, b, c, accumulate);
  }
};

}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
