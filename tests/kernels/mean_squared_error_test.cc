#include <gtest/gtest.h>

#include <utility>

#include "hearth/kernels/loss/loss.h"
#include "hearth/kernels/reference/reference.h"
#include "tests/kernels/buffers.h"
#include "tests/kernels/losses.h"

namespace hearth::kernels {
namespace {

TEST(MeanSquaredError, MatchesReference) {
  for (const std::int64_t n : sizes()) {
    Buffer logits(DType::f32, n, 1, 3), targets(DType::f32, n, 2), dlogits(DType::f32, n), expected = dlogits;
    const float loss = mean_squared_error(n, logits.floats(), targets.floats(), dlogits.floats());
    const float expected_loss = reference::mean_squared_error(n, logits.floats(), targets.floats(), expected.floats());
    expect_close(dlogits, expected, 3e-7, 0, "dlogits");
    const float alone = mean_squared_error(n, logits.floats(), targets.floats(), nullptr);
    if (n == 0) {
      EXPECT_TRUE(std::isnan(loss) && std::isnan(expected_loss) && std::isnan(alone));
    } else {
      EXPECT_NEAR(loss, expected_loss, 1e-6 * expected_loss) << n;
      EXPECT_EQ(loss, alone);
    }
  }
}

TEST(MeanSquaredError, MatchesPyTorch) {
  std::vector<float> dlogits(expected::kLogits.size());
  const float loss = mean_squared_error(expected::kRows * expected::kClasses, expected::kLogits.data(),
                                        expected::kMeasured.data(), dlogits.data());
  expect_outcome(loss, dlogits, expected::kMeanSquaredError);
}

TEST(MeanSquaredError, DoesNotDependOnThreads) {
  Buffer logits(DType::f32, 100'000, 1), targets(DType::f32, 100'000, 2);
  expect_same_for_any_threads([&] {
    Buffer dlogits(DType::f32, 100'000);
    const float loss = mean_squared_error(100'000, logits.floats(), targets.floats(), dlogits.floats());
    return std::make_pair(loss, dlogits);
  });
}

}  // namespace
}  // namespace hearth::kernels
