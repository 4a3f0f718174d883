#include "hearth/kernels/rows/embedding.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearth/kernels/rows/embedding.cc"
#include "hearth/base/rounding.h"
#include "hearth/kernels/simd/simd.h"
// After simd.h.
#include <hwy/foreach_target.h>

#include "hearth/cpu/parallel.h"
#include "hearth/kernels/rows/tokens_by_id.h"
#include "hearth/kernels/simd/chunks.h"
#include "hearth/kernels/simd/simd-inl.h"
#include "hearth/kernels/simd/visit.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {
namespace {

template <class T>
void take_row(std::int64_t cols, const float* row, T* y, bool accumulate) {
  const F32 d;
  for_vectors(d, cols, [&](std::int64_t i, auto lanes) HWY_ATTR {
    const auto v = lanes.load(d, row + i);
    lanes.store(d, accumulate ? hn::Add(lanes.load(d, y + i), v) : v, y + i);
  });
}

void take_rows(DType type, std::int64_t begin, std::int64_t end, std::int64_t cols, const std::int32_t* ids,
               const float* table, void* y, bool accumulate) {
  visit_float(type, [&](auto value) HWY_ATTR {
    for (std::int64_t t = begin; t < end; ++t)
      take_row(cols, table + ids[t] * cols, static_cast<decltype(value)*>(y) + t * cols, accumulate);
  });
}

template <class T>
void add_row(std::int64_t cols, const T* dy, float* drow) {
  const F32 d;
  for_vectors(d, cols, [&](std::int64_t i, auto lanes) HWY_ATTR {
    lanes.store(d, hn::Add(lanes.load(d, drow + i), lanes.load(d, dy + i)), drow + i);
  });
}

// Adds columns [first, first + count) of the tokens of one group to their rows.
void add_group(DType type, const TokensById& tokens, std::int64_t group, std::int64_t first, std::int64_t count,
               std::int64_t cols, const std::int32_t* ids, const void* dy, float* dtable) {
  visit_float(type, [&](auto value) HWY_ATTR {
    const auto* from = static_cast<const decltype(value)*>(dy) + first;
    for (const std::int32_t head : tokens.group(group))
      for (std::int32_t t = head; t >= 0; t = tokens.next(t))
        add_row(count, from + t * cols, dtable + ids[t] * cols + first);
  });
}

}  // namespace
}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearth::kernels {

void embedding_forward(DType type, std::int64_t tokens, std::int64_t cols, const std::int32_t* ids, const float* table,
                       void* y, bool accumulate) {
  const auto run = HEARTH_SIMD(take_rows);
  cpu::parallel_chunks(tokens, kRowChunk, [&](std::int64_t begin, std::int64_t end) {
    run(type, begin, end, cols, ids, table, y, accumulate);
  });
}

void embedding_backward(DType type, std::int64_t tokens, std::int64_t cols, const std::int32_t* ids, const void* dy,
                        std::int64_t rows, std::int32_t padding_id, float* dtable) {
  // Columns are cut too, because an embedding may have very few rows (token types: two).
  constexpr std::int64_t kColumns = 128;
  thread_local TokensById by_id;
  by_id.assign(tokens, ids, rows, padding_id);
  const TokensById& groups = by_id;
  const std::int64_t column_chunks = divide_up(cols, kColumns);
  const auto run = HEARTH_SIMD(add_group);
  cpu::parallel_for(groups.count() * column_chunks, [&](std::int64_t task) {
    const std::int64_t first = task % column_chunks * kColumns;
    run(type, groups, task / column_chunks, first, std::min(kColumns, cols - first), cols, ids, dy, dtable);
  });
}

}  // namespace hearth::kernels
#endif
