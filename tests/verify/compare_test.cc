#include "hearth/verify/compare.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "hearth/base/error.h"
#include "hearth/verify/report.h"

namespace hearth::verify {
namespace {

using Floats = std::vector<float>;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(LargestError, IsTheLargest) {
  LargestError worst;
  EXPECT_EQ(worst.value(), 0);
  for (const double error : {2.0, 5.0, 3.0}) worst.take(error);
  EXPECT_EQ(worst.value(), 5);
}

TEST(LargestError, StaysNaN) {
  LargestError worst;
  for (const double error : {1.0, double{kNaN}, 2.0}) worst.take(error);
  EXPECT_TRUE(std::isnan(worst.value()));
}

TEST(Compare, ANaNAnywhereIsFound) {
  for (const Floats& values : {Floats{kNaN, 1, 2}, Floats{1, kNaN, 2}, Floats{1, 2, kNaN}}) {
    EXPECT_TRUE(std::isnan(largest(values)));
    EXPECT_TRUE(std::isnan(largest_difference(values, Floats{1, 2, 3})));
    EXPECT_TRUE(std::isnan(largest_difference(Floats{1, 2, 3}, values)));
  }
}

TEST(Compare, TakesAbsoluteValues) {
  EXPECT_EQ(largest(Floats{1, -3, 2}), 3);
  EXPECT_EQ(largest_difference(Floats{1, -3, 2}, Floats{1, 2, 3}), 5);
}

TEST(Compare, UnequalSizesAreAnError) { EXPECT_THROW(largest_difference(Floats{1}, Floats{1, 2}), Error); }

TEST(Compare, ZeroIsNoScale) {
  EXPECT_EQ(share(0, 0), 0);
  EXPECT_EQ(share(1e-30, 0), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(share(0, kNaN)));
  EXPECT_EQ(relative(0, 0), 0);
  EXPECT_EQ(relative(-3, -2), 0.5);
}

// In a model whose largest gradient is `largest_of_model`.
bool passes(const Floats& ours, const Floats& expected, double largest_of_model, bool is_zero) {
  const GradientError result = gradient_error(ours, expected, largest_of_model);
  EXPECT_EQ(result.is_zero, is_zero);
  Report report([](bool, std::string_view) {});
  report.check("gradient", result.error, result.tolerance);
  return report.passed();
}

TEST(GradientError, OfAGradient) {
  EXPECT_TRUE(passes({1, 2}, {1, 2.00002f}, 2, false));
  EXPECT_FALSE(passes({1, 2}, {1, 2.0002f}, 2, false));
  EXPECT_FALSE(passes({kNaN, 2}, {1, 2}, 2, false));
}

TEST(GradientError, OfOneThatIsZeroInExactArithmetic) {
  EXPECT_TRUE(passes({3e-7f, -2e-7f}, {1e-7f, 0}, 2, true));
  EXPECT_FALSE(passes({3e-7f, -1e-4f}, {1e-7f, 0}, 2, true));
  EXPECT_FALSE(passes({kNaN, kNaN}, {1e-7f, 0}, 2, true));
  EXPECT_FALSE(passes({kNaN, 0}, {1e-7f, 0}, 2, true));
}

TEST(GradientError, OfAModelWithoutGradients) {
  EXPECT_TRUE(passes({0, 0}, {0, 0}, 0, true));
  EXPECT_FALSE(passes({0, 1e-9f}, {0, 0}, 0, true));
}

}  // namespace
}  // namespace hearth::verify
