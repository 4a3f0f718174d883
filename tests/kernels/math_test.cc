#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/math_test.cc"
#include "hearth/kernels/simd/simd.h"
// After simd.h.
#include <gtest/gtest.h>
#include <hwy/foreach_target.h>

#include <cmath>
#include <limits>
#include <vector>

#include "hearth/kernels/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hearth::kernels::HWY_NAMESPACE {
namespace {

template <class F>
void apply(F f, std::int64_t n, const float* x, float* y) {
  const F32 d;
  for_vectors(d, n, [&](std::int64_t i, auto lanes) HWY_ATTR { lanes.store(d, f(lanes.load(d, x + i)), y + i); });
}

void exp_all(std::int64_t n, const float* x, float* y) {
  apply([](auto v) HWY_ATTR { return exp_f32(F32(), v); }, n, x, y);
}
void tanh_all(std::int64_t n, const float* x, float* y) {
  apply([](auto v) HWY_ATTR { return tanh_f32(F32(), v); }, n, x, y);
}

}  // namespace
}  // namespace hearth::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearth::kernels {
namespace {

using Function = void (*)(std::int64_t, const float*, float*);

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> points(float from, float to) {
  std::vector<float> x;
  for (int i = 0; i <= 200000; ++i) x.push_back(from + (to - from) * static_cast<float>(i) / 200000.0f);
  for (float small = 1; small > 1e-30f; small /= 3) x.insert(x.end(), {small, -small});
  return x;
}

std::vector<float> apply(Function f, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  f(static_cast<std::int64_t>(x.size()), x.data(), y.data());
  return y;
}

double ulp(double value) {
  const auto magnitude = static_cast<float>(std::abs(value));
  return std::max(0x1p-149, double{std::nextafter(magnitude, kInfinity)} - magnitude);
}

TEST(Math, ExpIsAboutWithinOneUlp) {
  const std::vector<float> x = points(-104, 88.7f);
  const std::vector<float> y = apply(HEARTH_SIMD(exp_all), x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = std::exp(double{x[i]});
    const double allowed = expected < 0x1p-126 ? 1.5 : 1.1;
    ASSERT_LE(std::abs(y[i] - expected), allowed * ulp(expected)) << "exp(" << x[i] << ")";
  }
}

TEST(Math, ExpAtTheEnds) {
  const std::vector<float> y =
      apply(HEARTH_SIMD(exp_all), {0.0f, -0.0f, 89.0f, 1e30f, kInfinity, -104.5f, -1e30f, -kInfinity, kNan});
  EXPECT_EQ(std::vector<float>(y.begin(), y.end() - 1),
            (std::vector<float>{1, 1, kInfinity, kInfinity, kInfinity, 0, 0, 0}));
  EXPECT_TRUE(std::isnan(y.back()));
}

TEST(Math, TanhIsWithinTwoUlp) {
  const std::vector<float> x = points(-20, 20);
  const std::vector<float> y = apply(HEARTH_SIMD(tanh_all), x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = std::tanh(double{x[i]});
    ASSERT_LE(std::abs(y[i] - expected), 2 * ulp(expected)) << "tanh(" << x[i] << ")";
  }
  const std::vector<float> ends = apply(HEARTH_SIMD(tanh_all), {kInfinity, -kInfinity, 0.0f, kNan});
  EXPECT_EQ(ends[0], 1);
  EXPECT_EQ(ends[1], -1);
  EXPECT_EQ(ends[2], 0);
  EXPECT_TRUE(std::isnan(ends[3]));
}

}  // namespace
}  // namespace hearth::kernels
#endif
