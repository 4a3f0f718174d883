#pragma once

#include <cstdint>

#include "hearth/base/dtype.h"

namespace hearth::kernels {

// Converts n numbers among f32, bf16 and f16 (through f32; to nearest, ties to even; a NaN stays a NaN).
void convert(DType from, const void* x, DType to, void* y, std::int64_t n);
// The same on the calling thread, for tiles.
void convert_serial(DType from, const void* x, DType to, void* y, std::int64_t n);

// y += x, computed in f32, both of dtype `type`.
void add_into(DType type, std::int64_t n, const void* x, void* y);

// y = a + b, a - b or a * b, computed in f32, all of dtype `type`. y may be a or b.
enum class Pairwise : std::uint8_t { sum, difference, product };
void pairwise(Pairwise kind, DType type, std::int64_t n, const void* a, const void* b, void* y);

// y = factor * x. In place is fine.
void scale(DType type, std::int64_t n, float factor, const void* x, void* y);

// All n numbers become `value`.
void fill(DType type, std::int64_t n, float value, void* y);

// The sum of n numbers: chunks in f32, the sums of the chunks in order in f64, so that the result does not depend on
// the number of threads.
double total(DType type, std::int64_t n, const void* x);

// Whether all n numbers are finite: neither NaN nor an infinity.
bool all_finite(DType type, std::int64_t n, const void* x);

// sums(cols) f32 = [sums +] the column sums of x (rows, cols), rows `ldx` apart. Rows are summed in fixed chunks of
// 64 and the chunks in order, so that the result does not depend on the number of threads.
void column_sums(DType type, std::int64_t rows, std::int64_t cols, const void* x, std::int64_t ldx, float* sums,
                 bool accumulate);

}  // namespace hearth::kernels
