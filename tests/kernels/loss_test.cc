#include "hearth/kernels/loss.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "hearth/kernels/reference.h"
#include "tests/kernels/buffers.h"
#include "tests/kernels/sequences.h"

namespace hearth::kernels {
namespace {

constexpr std::int64_t kIgnore = -100;

std::vector<std::int64_t> random_labels(std::int64_t rows, std::int64_t classes) {
  std::mt19937 generator(1);
  std::uniform_int_distribution<std::int64_t> label(0, classes - 1);
  std::vector<std::int64_t> labels(static_cast<std::size_t>(rows));
  for (auto& l : labels) l = generator() % 4 == 0 ? kIgnore : label(generator);
  if (rows > 0) labels[0] = 0;
  return labels;
}

TEST(CrossEntropy, MatchesReference) {
  for (const std::int64_t classes : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 1030, 30522}) {
    for (const std::int64_t rows : {1, 2, 70}) {
      if (rows * classes > 1'000'000) continue;
      for (const float smoothing : {0.0f, 0.1f}) {
        const std::vector<std::int64_t> labels = random_labels(rows, classes);
        Buffer logits(DType::f32, rows * classes, 1, 5), dlogits(DType::f32, rows * classes), expected = dlogits;
        const float loss =
            cross_entropy(rows, classes, logits.floats(), labels.data(), kIgnore, smoothing, dlogits.floats());
        const float expected_loss = reference::cross_entropy(rows, classes, logits.floats(), labels.data(), kIgnore,
                                                             smoothing, expected.floats());
        EXPECT_NEAR(loss, expected_loss, 2e-6 * (1 + std::abs(expected_loss)));
        expect_close(dlogits, expected, 2e-6, 3e-7 / static_cast<double>(rows), "dlogits");
        EXPECT_EQ(loss, cross_entropy(rows, classes, logits.floats(), labels.data(), kIgnore, smoothing, nullptr));
      }
    }
  }
}

// torch.nn.functional.cross_entropy([[1, 2, 3], [1, 0, -1]], [2, 0], label_smoothing=0.1) is 0.5076060 and 0.4076060
// without smoothing.
TEST(CrossEntropy, KnownValues) {
  const float logits[] = {1, 2, 3, 1, 0, -1};
  const std::int64_t labels[] = {2, 0};
  EXPECT_NEAR(cross_entropy(2, 3, logits, labels, kIgnore, 0, nullptr), 0.4076060f, 1e-6);
  EXPECT_NEAR(cross_entropy(2, 3, logits, labels, kIgnore, 0.1f, nullptr), 0.5076060f, 1e-6);
}

TEST(CrossEntropy, OfNoRowIsNan) {
  const float logits[] = {1, 2, 3, 4};
  const std::int64_t labels[] = {kIgnore, kIgnore};
  float dlogits[] = {9, 9, 9, 9};
  EXPECT_TRUE(std::isnan(cross_entropy(2, 2, logits, labels, kIgnore, 0, dlogits)));
  for (const float d : dlogits) EXPECT_EQ(d, 0);
  EXPECT_TRUE(std::isnan(cross_entropy(0, 2, logits, labels, kIgnore, 0, dlogits)));
}

TEST(CrossEntropy, TakesLargeAndInfiniteLogits) {
  const float logits[] = {1000, 1001, -std::numeric_limits<float>::infinity()};
  const std::int64_t label = 1;
  float dlogits[3];
  EXPECT_NEAR(cross_entropy(1, 3, logits, &label, kIgnore, 0, dlogits), 0.3132617f, 1e-6);
  EXPECT_NEAR(dlogits[0], 0.2689414f, 1e-6);
  EXPECT_NEAR(dlogits[1], -0.2689414f, 1e-6);
  EXPECT_EQ(dlogits[2], 0);
}

TEST(CrossEntropy, DoesNotDependOnThreads) {
  const std::vector<std::int64_t> labels = random_labels(300, 500);
  Buffer logits(DType::f32, 300 * 500, 1);
  expect_same_for_any_threads([&] {
    Buffer dlogits(DType::f32, 300 * 500);
    const float loss = cross_entropy(300, 500, logits.floats(), labels.data(), kIgnore, 0.1f, dlogits.floats());
    return std::make_pair(loss, dlogits);
  });
}

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
