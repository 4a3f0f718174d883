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

constexpr std::int64_t kIgnore = -100;

std::vector<std::int64_t> random_labels(std::int64_t rows, std::int64_t classes) {
  std::mt19937 generator(1);
  std::uniform_int_distribution<std::int64_t> label(0, classes - 1);
  std::vector<std::int64_t> labels(static_cast<std::size_t>(rows));
  for (auto& l : labels) l = generator() % 4 == 0 ? kIgnore : label(generator);
  if (rows > 0) labels[0] = 0;
  return labels;
}

struct Terms {
  float label_smoothing;
  bool weighted;
  float focal_gamma;
};
constexpr Terms kTerms[] = {{0, false, 0}, {0.1f, false, 0}, {0, true, 0},     {0.1f, true, 0},
                            {0, false, 2}, {0, true, 2},     {0, false, 0.5f}, {0, true, 0.5f}};

CrossEntropyOptions options_of(const Terms& terms, std::span<const float> weights) {
  return {kIgnore, terms.label_smoothing, terms.weighted ? weights : std::span<const float>(), terms.focal_gamma};
}

void expect_matches_reference(std::int64_t rows, std::int64_t classes, const Terms& terms) {
  const std::vector<std::int64_t> labels = random_labels(rows, classes);
  const std::vector<float> weights = random_weights(classes);
  const CrossEntropyOptions options = options_of(terms, weights);
  Buffer logits(DType::f32, rows * classes, 1, 5), dlogits(DType::f32, rows * classes), expected = dlogits;
  const float loss = cross_entropy(rows, classes, logits.floats(), labels.data(), options, dlogits.floats());
  const float expected_loss =
      reference::cross_entropy(rows, classes, logits.floats(), labels.data(), options, expected.floats());
  EXPECT_NEAR(loss, expected_loss, 2e-6 * (1 + std::abs(expected_loss)));
  const double largest = terms.weighted || terms.focal_gamma > 0 ? 4 : 1;
  expect_close(dlogits, expected, 2e-6, largest * 3e-7 / static_cast<double>(rows), "dlogits");
  EXPECT_EQ(loss, cross_entropy(rows, classes, logits.floats(), labels.data(), options, nullptr));
  EXPECT_EQ(loss, cross_entropy(rows, classes, logits.floats(), labels.data(), options, logits.floats()));
  for (std::int64_t i = 0; i < rows * classes; ++i) ASSERT_EQ(logits.at(i), dlogits.at(i)) << "in place, " << i;
}

TEST(CrossEntropy, MatchesReference) {
  const OneThread one_thread;
  std::vector<std::int64_t> numbers_of_classes = {1030, 30522};
  for (std::int64_t classes = 1; classes <= 33; ++classes) numbers_of_classes.push_back(classes);
  for (const std::int64_t classes : numbers_of_classes)
    for (const std::int64_t rows : {1, 2, 70})
      if (rows * classes < 1'000'000)
        for (const Terms& terms : kTerms) {
          SCOPED_TRACE(fmt::format("{} x {}, smoothing {}, weighted {}, gamma {}", rows, classes, terms.label_smoothing,
                                   terms.weighted, terms.focal_gamma));
          expect_matches_reference(rows, classes, terms);
        }
}

TEST(CrossEntropy, MatchesPyTorch) {
  for (const expected::CrossEntropy& test : expected::kCrossEntropy) {
    SCOPED_TRACE(
        fmt::format("smoothing {}, weighted {}, gamma {}", test.label_smoothing, test.weighted, test.focal_gamma));
    const Terms terms = {test.label_smoothing, test.weighted, test.focal_gamma};
    std::vector<float> dlogits(expected::kLogits.size());
    const float loss =
        cross_entropy(expected::kRows, expected::kClasses, expected::kLogits.data(), expected::kLabels.data(),
                      options_of(terms, expected::kClassWeights), dlogits.data());
    expect_outcome(loss, dlogits, test.outcome);
  }
}

TEST(CrossEntropy, WeightsOfOneGiveTheUnweightedLoss) {
  const std::vector<std::int64_t> labels = random_labels(20, 7);
  const std::vector<float> ones(7, 1.0f);
  Buffer logits(DType::f32, 20 * 7, 1, 3);
  for (const float smoothing : {0.0f, 0.2f})
    EXPECT_NEAR(cross_entropy(20, 7, logits.floats(), labels.data(), {kIgnore, smoothing, ones, 0}, nullptr),
                cross_entropy(20, 7, logits.floats(), labels.data(), {kIgnore, smoothing, {}, 0}, nullptr), 1e-6);
}

// torch.nn.functional.cross_entropy([[1, 2, 3], [1, 0, -1]], [2, 0], label_smoothing=0.1) is 0.5076060 and 0.4076060
// without smoothing.
TEST(CrossEntropy, KnownValues) {
  const float logits[] = {1, 2, 3, 1, 0, -1};
  const std::int64_t labels[] = {2, 0};
  EXPECT_NEAR(cross_entropy(2, 3, logits, labels, {}, nullptr), 0.4076060f, 1e-6);
  EXPECT_NEAR(cross_entropy(2, 3, logits, labels, {.label_smoothing = 0.1f}, nullptr), 0.5076060f, 1e-6);
}

TEST(CrossEntropy, OfNoRowIsNan) {
  const float logits[] = {1, 2, 3, 4};
  const std::int64_t labels[] = {kIgnore, kIgnore};
  float dlogits[] = {9, 9, 9, 9};
  EXPECT_TRUE(std::isnan(cross_entropy(2, 2, logits, labels, {}, dlogits)));
  for (const float d : dlogits) EXPECT_EQ(d, 0);
  EXPECT_TRUE(std::isnan(cross_entropy(0, 2, logits, labels, {}, dlogits)));
}

TEST(CrossEntropy, OfRowsOfWeightZeroIsNan) {
  const float logits[] = {1, 2, 3, 4}, weights[] = {1, 0};
  const std::int64_t labels[] = {1, 1};
  for (const float smoothing : {0.0f, 0.1f}) {
    float dlogits[] = {9, 9, 9, 9};
    const CrossEntropyOptions options = {.label_smoothing = smoothing, .class_weights = weights};
    EXPECT_TRUE(std::isnan(cross_entropy(2, 2, logits, labels, options, dlogits)));
    for (const float d : dlogits) EXPECT_EQ(d, 0);
  }
}

TEST(CrossEntropy, TakesCertainRowsWithFocalGamma) {
  const float logits[] = {200, 0, 0, 200, -std::numeric_limits<float>::infinity(), 0};
  const std::int64_t labels[] = {0, 0, 0};
  for (const float gamma : {0.5f, 1.0f, 2.0f}) {
    float dlogits[6];
    EXPECT_NEAR(cross_entropy(2, 2, logits, labels, {.focal_gamma = gamma}, dlogits), 100, 1e-4);
    const float expected[] = {0, 0, -0.5f, 0.5f};
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(dlogits[i], expected[i], 1e-6) << i;
    EXPECT_EQ(cross_entropy(3, 2, logits, labels, {.focal_gamma = gamma}, dlogits),
              std::numeric_limits<float>::infinity());
    for (const float d : dlogits) EXPECT_TRUE(std::isfinite(d));
  }
}

TEST(CrossEntropy, OfANanIsNan) {
  const float logits[] = {1, std::numeric_limits<float>::quiet_NaN(), 2}, weights[] = {1, 2, 3};
  const std::int64_t label = 0;
  for (const CrossEntropyOptions& options :
       {CrossEntropyOptions{}, {.label_smoothing = 0.1f, .class_weights = weights}, {.focal_gamma = 2}}) {
    float dlogits[3];
    EXPECT_TRUE(std::isnan(cross_entropy(1, 3, logits, &label, options, dlogits)));
    for (const float d : dlogits) EXPECT_TRUE(std::isnan(d));
  }
}

TEST(CrossEntropy, TakesLargeAndInfiniteLogits) {
  const float logits[] = {1000, 1001, -std::numeric_limits<float>::infinity()};
  const std::int64_t label = 1;
  float dlogits[3];
  EXPECT_NEAR(cross_entropy(1, 3, logits, &label, {}, dlogits), 0.3132617f, 1e-6);
  EXPECT_NEAR(dlogits[0], 0.2689414f, 1e-6);
  EXPECT_NEAR(dlogits[1], -0.2689414f, 1e-6);
  EXPECT_EQ(dlogits[2], 0);
}

TEST(CrossEntropy, DoesNotDependOnThreads) {
  const std::vector<std::int64_t> labels = random_labels(300, 500);
  const std::vector<float> weights = random_weights(500);
  Buffer logits(DType::f32, 300 * 500, 1);
  for (const Terms& terms : kTerms)
    expect_same_for_any_threads([&] {
      Buffer dlogits(DType::f32, 300 * 500);
      const float loss =
          cross_entropy(300, 500, logits.floats(), labels.data(), options_of(terms, weights), dlogits.floats());
      return std::make_pair(loss, dlogits);
    });
}

}  // namespace
}  // namespace hearth::kernels
