#include "hearth/train/speed.h"

#include <gtest/gtest.h>

namespace hearth {
namespace {

TEST(Speed, CountsTheStepsAlone) {
  Speed speed([] { return 1000.0; });
  EXPECT_EQ(speed.tokens_per_second(), 0);
  EXPECT_EQ(speed.matmul_share(), 0);
  speed.add_step(10, 500, 2);
  speed.add_step(50, 1500, 2);
  EXPECT_DOUBLE_EQ(speed.tokens(), 60);
  EXPECT_DOUBLE_EQ(speed.tokens_per_second(), 15);
  EXPECT_DOUBLE_EQ(speed.matmul_share(), 0.5);
}

TEST(Speed, MeasuresALowRateAgainButNotForEver) {
  int measurements = 0;
  Speed rising([&] { return ++measurements == 1 ? 100.0 : 1000.0; });
  for (int step = 0; step < 10; ++step) rising.add_step(1, 500, 1);
  EXPECT_EQ(measurements, 2);
  EXPECT_DOUBLE_EQ(rising.matmul_share(), 0.5);

  measurements = 0;
  Speed falling([&] { return 100.0 / ++measurements; });
  for (int step = 0; step < 10; ++step) falling.add_step(1, 500, 1);
  EXPECT_EQ(measurements, 1 + 3);
  EXPECT_DOUBLE_EQ(falling.matmul_share(), 5);
}

TEST(Speed, WithoutARateThereIsNoShare) {
  Speed speed;
  speed.add_step(10, 500, 2);
  EXPECT_EQ(speed.matmul_share(), 0);
  EXPECT_DOUBLE_EQ(speed.tokens_per_second(), 5);
}

}  // namespace
}  // namespace hearth
