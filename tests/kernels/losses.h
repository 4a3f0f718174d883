#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/kernels/buffers.h"
#include "tests/kernels/expected_losses.h"

namespace hearth::kernels {

// Some are zero.
inline std::vector<float> random_weights(std::int64_t classes) {
  Buffer numbers(DType::f32, classes, 3);
  std::vector<float> weights;
  for (std::int64_t i = 0; i < classes; ++i) weights.push_back(i % 5 == 4 ? 0 : std::abs(numbers.at(i)) + 0.1f);
  return weights;
}

inline void expect_outcome(float loss, const std::vector<float>& dlogits, const expected::Outcome& expected) {
  EXPECT_NEAR(loss, expected.loss, 1e-6 * (1 + std::abs(expected.loss)));
  ASSERT_EQ(dlogits.size(), expected.dlogits.size());
  for (std::size_t i = 0; i < dlogits.size(); ++i) EXPECT_NEAR(dlogits[i], expected.dlogits[i], 2e-7) << i;
}

}  // namespace hearth::kernels
