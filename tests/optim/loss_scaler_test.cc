#include "hearth/optim/loss_scaler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hearth::optim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(LossScaler, StartsHighAndHalvesAtEachOverflow) {
  LossScaler scaler(true);
  EXPECT_EQ(scaler.scale(), 65536);
  EXPECT_FALSE(scaler.accept(kInfinity));
  EXPECT_EQ(scaler.scale(), 32768);
  EXPECT_FALSE(scaler.accept(kNaN));
  EXPECT_EQ(scaler.scale(), 16384);
  EXPECT_EQ(scaler.skipped(), 2);
  EXPECT_TRUE(scaler.accept(3.0));
  EXPECT_EQ(scaler.scale(), 16384);
}

TEST(LossScaler, DoublesAfterTwoThousandGoodStepsInARow) {
  LossScaler scaler(true);
  for (int step = 0; step < 1999; ++step) ASSERT_TRUE(scaler.accept(1.0));
  EXPECT_EQ(scaler.scale(), 65536);
  EXPECT_TRUE(scaler.accept(1.0));
  EXPECT_EQ(scaler.scale(), 131072);
  EXPECT_EQ(scaler.good_steps(), 0);
  for (int step = 0; step < 1999; ++step) scaler.accept(1.0);
  EXPECT_FALSE(scaler.accept(kInfinity));  // the count starts again at 0
  for (int step = 0; step < 1999; ++step) scaler.accept(1.0);
  EXPECT_EQ(scaler.scale(), 65536);
  scaler.accept(1.0);
  EXPECT_EQ(scaler.scale(), 131072);
}

TEST(LossScaler, NeverGrowsToInfinity) {
  LossScaler scaler(true);
  const float largest = std::ldexp(1.0f, 127);
  scaler.restore(largest, 1999, 0);
  EXPECT_TRUE(scaler.accept(1.0));
  EXPECT_EQ(scaler.scale(), largest);
  EXPECT_EQ(scaler.good_steps(), 0);
}

TEST(LossScaler, ContinuesWhereItWas) {
  LossScaler scaler(true);
  scaler.restore(1024, 1999, 7);
  EXPECT_EQ(scaler.scale(), 1024);
  EXPECT_EQ(scaler.skipped(), 7);
  scaler.accept(1.0);
  EXPECT_EQ(scaler.scale(), 2048);
}

TEST(LossScaler, DisabledTakesEveryStepAsItIs) {
  LossScaler scaler(false);
  EXPECT_TRUE(scaler.accept(kNaN));
  for (int step = 0; step < 2001; ++step) EXPECT_TRUE(scaler.accept(1.0));
  EXPECT_EQ(scaler.scale(), 1);
  EXPECT_EQ(scaler.skipped(), 0);
}

}  // namespace
}  // namespace hearth::optim
