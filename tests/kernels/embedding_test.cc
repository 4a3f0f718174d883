#include "hearth/kernels/rows/embedding.h"

#include <gtest/gtest.h>

#include <random>

#include "hearth/kernels/reference/reference.h"
#include "tests/kernels/buffers.h"

namespace hearth::kernels {
namespace {

std::vector<std::int32_t> random_ids(std::int64_t tokens, std::int32_t rows) {
  std::mt19937 generator(1);
  std::uniform_int_distribution<std::int32_t> id(0, rows - 1);
  std::vector<std::int32_t> ids(static_cast<std::size_t>(tokens));
  for (auto& i : ids) i = id(generator);
  return ids;
}

TEST(Embedding, MatchesReference) {
  const OneThread one_thread;
  for (const DType type : kFormats) {
    for (const std::int64_t tokens : {0, 1, 5, 150}) {
      for (const std::int32_t rows : {1, 2, 90}) {
        for (const std::int64_t cols : {1, 8, 15, 16, 17, 33, 200, 300}) {
          const std::vector<std::int32_t> ids = random_ids(tokens, rows);
          Buffer table(DType::f32, rows * cols, 1), y(type, tokens * cols, 2), expected = y;
          for (const bool accumulate : {false, true}) {
            embedding_forward(type, tokens, cols, ids.data(), table.floats(), y.data(), accumulate);
            reference::embedding_forward(type, tokens, cols, ids.data(), table.floats(), expected.data(), accumulate);
            expect_close(y, expected, 0, 0, "embedding_forward");
          }
          for (const std::int32_t padding_id : {-1, 0}) {
            Buffer dy(type, tokens * cols, 3), dtable(DType::f32, rows * cols, 4), expected_dtable = dtable;
            embedding_backward(type, tokens, cols, ids.data(), dy.data(), rows, padding_id, dtable.floats());
            reference::embedding_backward(type, tokens, cols, ids.data(), dy.data(), rows, padding_id,
                                          expected_dtable.floats());
            ASSERT_EQ(dtable, expected_dtable) << tokens << " tokens, " << rows << " rows, " << cols << " columns";
          }
        }
      }
    }
  }
}

// A signalling NaN would turn quiet if it were so much as added to.
TEST(Embedding, BackwardLeavesUnusedRowsAlone) {
  constexpr std::uint32_t kSignalling = 0x7f800001;
  std::vector<std::uint32_t> dtable(100 * 20, kSignalling);
  const std::vector<std::int32_t> ids = {7, 50, 7};
  std::fill_n(dtable.begin() + 7 * 20, 20, 0);
  std::fill_n(dtable.begin() + 50 * 20, 20, 0);
  Buffer dy(DType::f32, 3 * 20, 1);
  embedding_backward(DType::f32, 3, 20, ids.data(), dy.data(), 100, -1, reinterpret_cast<float*>(dtable.data()));
  for (std::size_t row = 0; row < 100; ++row)
    for (std::size_t col = 0; col < 20; ++col) ASSERT_EQ(dtable[row * 20 + col] != kSignalling, row == 7 || row == 50);
}

TEST(Embedding, BackwardDoesNotDependOnThreads) {
  const std::vector<std::int32_t> ids = random_ids(3000, 40);
  Buffer dy(DType::bf16, 3000 * 300, 3);
  expect_same_for_any_threads([&] {
    Buffer dtable(DType::f32, 40 * 300, 4);
    embedding_backward(DType::bf16, 3000, 300, ids.data(), dy.data(), 40, 5, dtable.floats());
    return dtable;
  });
}

}  // namespace
}  // namespace hearth::kernels
