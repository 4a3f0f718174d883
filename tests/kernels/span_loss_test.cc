#include <gtest/gtest.h>

#include <utility>

#include "hearth/kernels/loss/loss.h"
#include "hearth/kernels/reference/reference.h"
#include "tests/kernels/buffers.h"
#include "tests/kernels/sequences.h"

namespace hearth::kernels {
namespace {

TEST(SpanLoss, MatchesReference) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t length = 1; length <= 34; ++length) lengths.push_back(length);
  lengths.insert(lengths.end(), {384, 100});
  const PackedSequences sequences(lengths);
  const std::int64_t tokens = sequences.view().tokens();
  std::vector<std::int64_t> starts, ends;
  for (const std::int64_t length : lengths) {
    starts.push_back(length % 5 == 0 ? length : length / 2);
    ends.push_back(length % 7 == 0 ? -3 : length - 1);
  }
  Buffer logits(DType::f32, 2 * tokens, 1, 4), dlogits(DType::f32, 2 * tokens, 2), expected = dlogits;
  const float loss = span_loss(sequences.view(), logits.floats(), starts.data(), ends.data(), dlogits.floats());
  EXPECT_NEAR(loss,
              reference::span_loss(sequences.view(), logits.floats(), starts.data(), ends.data(), expected.floats()),
              1e-5);
  expect_close(dlogits, expected, 2e-6, 1e-9, "dlogits");
  EXPECT_EQ(loss, span_loss(sequences.view(), logits.floats(), starts.data(), ends.data(), nullptr));

  expect_same_for_any_threads([&] {
    Buffer d(DType::f32, 2 * tokens);
    const float l = span_loss(sequences.view(), logits.floats(), starts.data(), ends.data(), d.floats());
    return std::make_pair(l, d);
  });
}

// Two sequences of two and one tokens; the second one's end lies past it and is left out.
TEST(SpanLoss, KnownValues) {
  const PackedSequences sequences({2, 1});
  const float logits[] = {0, 1, 0, 1, 5, 5};
  const std::int64_t starts[] = {1, 0}, ends[] = {-1, 1};
  float dlogits[6];
  const float log2 = std::log(2.0f);
  EXPECT_NEAR(span_loss(sequences.view(), logits, starts, ends, dlogits), (log2 / 2 + log2) / 2, 1e-6);
  const float expected[] = {0.125f, -0.25f, -0.125f, 0.25f, 0, 0};
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(dlogits[i], expected[i], 1e-7) << i;
}

TEST(SpanLoss, OfNoSequenceIsNan) {
  const PackedSequences sequences({1});
  const float logits[] = {1, 1};
  const std::int64_t past = 1;
  float dlogits[2];
  EXPECT_TRUE(std::isnan(span_loss(sequences.view(), logits, &past, &past, dlogits)));
  EXPECT_EQ(dlogits[0], 0);
  EXPECT_EQ(dlogits[1], 0);
}

}  // namespace
}  // namespace hearth::kernels
