#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <utility>

#include "hearth/kernels/loss/loss.h"
#include "hearth/kernels/reference/reference.h"
#include "tests/kernels/buffers.h"
#include "tests/kernels/losses.h"

namespace hearth::kernels {
namespace {

std::vector<float> random_between_0_and_1(std::int64_t count) {
  std::mt19937 generator(2);
  std::uniform_real_distribution<float> number(0, 1);
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (auto& n : numbers) n = generator() % 2 == 0 ? static_cast<float>(generator() % 2) : number(generator);
  return numbers;
}

void expect_binary_matches_reference(std::int64_t rows, std::int64_t labels, const BinaryCrossEntropyOptions& options) {
  const std::int64_t cells = rows * labels;
  const std::vector<float> targets = random_between_0_and_1(cells);
  Buffer logits(DType::f32, cells, 1, 5), dlogits(DType::f32, cells), expected = dlogits;
  const float loss = binary_cross_entropy(rows, labels, logits.floats(), targets.data(), options, dlogits.floats());
  const float expected_loss =
      reference::binary_cross_entropy(rows, labels, logits.floats(), targets.data(), options, expected.floats());
  EXPECT_NEAR(loss, expected_loss, 2e-6 * (1 + std::abs(expected_loss)));
  expect_close(dlogits, expected, 2e-6, 2e-6 / static_cast<double>(cells), "dlogits");
  EXPECT_EQ(loss, binary_cross_entropy(rows, labels, logits.floats(), targets.data(), options, nullptr));
}

TEST(BinaryCrossEntropy, MatchesReference) {
  const OneThread one_thread;
  for (const std::int64_t labels : sizes())
    for (const std::int64_t rows : {1, 3}) {
      if (labels == 0) continue;
      const std::vector<float> weights = random_weights(labels);
      for (const float gamma : {0.0f, 2.0f, 0.5f}) {
        SCOPED_TRACE(fmt::format("{} x {}, gamma {}", rows, labels, gamma));
        expect_binary_matches_reference(rows, labels, {{}, gamma});
        expect_binary_matches_reference(rows, labels, {weights, gamma});
      }
    }
}

TEST(BinaryCrossEntropy, MatchesPyTorch) {
  for (const expected::BinaryCrossEntropy& test : expected::kBinaryCrossEntropy) {
    SCOPED_TRACE(fmt::format("soft {}, weighted {}, gamma {}", test.soft, test.weighted, test.focal_gamma));
    BinaryCrossEntropyOptions options = {.focal_gamma = test.focal_gamma};
    if (test.weighted) options.class_weights = expected::kClassWeights;
    const std::vector<float>& targets = test.soft ? expected::kSoft : expected::kYesOrNo;
    std::vector<float> dlogits(expected::kLogits.size());
    const float loss = binary_cross_entropy(expected::kRows, expected::kClasses, expected::kLogits.data(),
                                            targets.data(), options, dlogits.data());
    expect_outcome(loss, dlogits, test.outcome);
  }
}

TEST(BinaryCrossEntropy, TakesLargeLogits) {
  const float logits[] = {200, 200, -200, -200}, targets[] = {1, 0, 1, 0}, expected[] = {0, 0.25f, -0.25f, 0};
  for (const float gamma : {0.0f, 0.5f, 2.0f}) {
    float dlogits[4];
    EXPECT_EQ(binary_cross_entropy(2, 2, logits, targets, {.focal_gamma = gamma}, dlogits), 100);
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(dlogits[i], expected[i], 1e-7) << i;
  }
}

TEST(BinaryCrossEntropy, OfANanIsNan) {
  const float logits[] = {1, std::numeric_limits<float>::quiet_NaN()}, targets[] = {1, 1};
  for (const float gamma : {0.0f, 2.0f}) {
    float dlogits[2];
    EXPECT_TRUE(std::isnan(binary_cross_entropy(1, 2, logits, targets, {.focal_gamma = gamma}, dlogits)));
    EXPECT_FALSE(std::isnan(dlogits[0]));
    EXPECT_TRUE(std::isnan(dlogits[1]));
  }
}

TEST(BinaryCrossEntropy, OfNoCellIsNan) {
  EXPECT_TRUE(std::isnan(binary_cross_entropy(0, 3, nullptr, nullptr, {}, nullptr)));
  EXPECT_TRUE(std::isnan(binary_cross_entropy(3, 0, nullptr, nullptr, {}, nullptr)));
}

TEST(BinaryCrossEntropy, DoesNotDependOnThreads) {
  const std::vector<float> targets = random_between_0_and_1(300 * 500), weights = random_weights(500);
  Buffer logits(DType::f32, 300 * 500, 1);
  expect_same_for_any_threads([&] {
    Buffer dlogits(DType::f32, 300 * 500);
    const float loss =
        binary_cross_entropy(300, 500, logits.floats(), targets.data(), {weights, 2.0f}, dlogits.floats());
    return std::make_pair(loss, dlogits);
  });
}

}  // namespace
}  // namespace hearth::kernels
