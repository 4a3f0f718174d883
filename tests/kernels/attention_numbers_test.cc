// Attention with large numbers, infinities and NaN, and the rounding of fp16.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "hearth/cpu/parallel.h"
#include "tests/kernels/attention_problem.h"

namespace hearth::kernels {
namespace {

using namespace attention_tests;

TEST(Attention, LargeScores) {
  for_each_fast_impl([](const AttentionImpl& impl, DType type) {
    Problem problem({.lengths = {50}, .keys = {47}, .dim = 16, .type = type});
    for (std::int64_t i = 0; i < 50; ++i)
      for (std::int64_t j = 0; j < 32; ++j) problem.qkv.put(i, j, 100 * problem.qkv.at(i, j));
    Problem want = problem;
    run(impl, problem);
    reference().forward(want.args());
    for (std::int64_t i = 0; i < 50; ++i)
      for (std::int64_t j = 0; j < 48; ++j) ASSERT_TRUE(std::isfinite(problem.dqkv.at(i, j)));
    expect_near(problem.out, want.out, 0.05f, "out");
  });
}

// Padding must not stand in for the largest score.
TEST(Attention, AllScoresFarBelowZero) {
  for_each_fast_impl([](const AttentionImpl& impl, DType type) {
    Problem problem({.lengths = {40}, .keys = {37}, .dim = 16, .type = type});
    for (std::int64_t i = 0; i < 40; ++i)
      for (std::int64_t j = 0; j < 32; ++j)
        problem.qkv.put(i, j, (j < 16 ? 20.0f : -20.0f) + std::round(4 * problem.qkv.at(i, j)) / 8);
    Problem want = problem;
    run(impl, problem);
    run(reference(), want);
    expect_near(problem.out, want.out, 2 * tolerance(type), "out");
    expect_near(problem.lse, want.lse, 1e-5f, "lse");
    for (std::int64_t i = 0; i < 40; ++i)
      for (std::int64_t j = 0; j < 48; ++j) ASSERT_TRUE(std::isfinite(problem.dqkv.at(i, j)));
  });
}

TEST(Attention, NanIsNotHidden) {
  for_each_fast_impl([](const AttentionImpl& impl, DType type) {
    Problem problem({.lengths = {40, 30}, .keys = {40, 30}, .dim = 16, .type = type});
    problem.qkv.put(3, 5, std::numeric_limits<float>::quiet_NaN());
    run(impl, problem);
    EXPECT_TRUE(std::isnan(problem.out.at(3, 0)));
    EXPECT_TRUE(std::isnan(problem.dqkv.at(3, 0)));
    EXPECT_FALSE(std::isnan(problem.out.at(4, 0)));
    EXPECT_FALSE(std::isnan(problem.dqkv.at(40, 0)));
  });
}

// A gradient beyond fp16's range skips the step of a loss scaler, so it must not vanish on its way.
TEST(Attention, NonFiniteGradientIsNotHidden) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for_each_fast_impl([](const AttentionImpl& impl, DType type) {
    for (const float value : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()})
      for (const float dropout : {0.0f, 0.1f}) {
        SCOPED_TRACE(fmt::format("{} dropout {}", value, dropout));
        Problem problem({.lengths = {40, 30}, .keys = {40, 30}, .dim = 48, .type = type, .dropout = dropout});
        problem.dout.put(35, 33, value);
        run(impl, problem);
        const auto is_finite = [&](std::int64_t row, std::int64_t col) {
          return std::isfinite(problem.dqkv.at(row, col));
        };
        for (std::int64_t d = 0; d < 48; ++d) {
          EXPECT_FALSE(is_finite(35, d)) << "dq, column " << d;
          EXPECT_TRUE(is_finite(34, d) && is_finite(40, d));
          for (std::int64_t i = 0; i < 40; ++i) EXPECT_FALSE(is_finite(i, 48 + d)) << "dk, row " << i;
          EXPECT_TRUE(is_finite(40, 48 + d) && is_finite(40, 96 + d));
        }
        std::int64_t hidden = 0;
        for (std::int64_t i = 0; i < 40; ++i) hidden += is_finite(i, 96 + 33);
        EXPECT_LE(hidden, dropout == 0 ? 0 : 20) << "dv";
        EXPECT_TRUE(is_finite(3, 96 + 32));
      }
  });
}

TEST(Attention, NonFiniteInputsAreNotHidden) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for_each_fast_impl([](const AttentionImpl& impl, DType type) {
    for (const float value : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
      SCOPED_TRACE(value);
      Problem problem({.lengths = {40, 30}, .keys = {40, 30}, .dim = 16, .type = type});
      problem.qkv.put(3, 32 + 5, value);  // of v: it reaches every query
      run(impl, problem);
      for (std::int64_t i = 0; i < 40; ++i) {
        EXPECT_FALSE(std::isfinite(problem.out.at(i, 5)));
        EXPECT_TRUE(std::isfinite(problem.out.at(i, 4)));
        EXPECT_FALSE(std::isfinite(problem.dqkv.at(i, 0)));
      }
      EXPECT_TRUE(std::isfinite(problem.out.at(40, 5)));
    }
  });
}

// All queries look at one key alone, whose value is fp16's largest number: it stays finite. Divided by dropout's 1 - p
// it is beyond the range.
TEST(Attention, OverflowOfFp16) {
  constexpr std::int64_t kLength = 70, kDim = 16;
  for (const AttentionImpl& impl : fast_impls(DType::f16))
    for (const float dropout : {0.0f, 0.5f}) {
      SCOPED_TRACE(fmt::format("{} dropout {}", impl.name, dropout));
      Problem problem({.lengths = {kLength}, .keys = {kLength}, .dim = kDim, .type = DType::f16, .dropout = dropout});
      for (std::int64_t i = 0; i < kLength; ++i)
        for (std::int64_t d = 0; d < kDim; ++d) {
          problem.qkv.put(i, d, 200);
          problem.qkv.put(i, kDim + d, i == 9 ? 200.0f : 0.0f);
          problem.qkv.put(i, 2 * kDim + d, 65504);
          problem.dout.put(i, d, 65504);
        }
      Problem want = problem;
      run(impl, problem);
      run(reference(), want);
      std::int64_t infinities = 0;
      for (std::int64_t i = 0; i < kLength; ++i) {
        ASSERT_EQ(problem.out.at(i, 0), want.out.at(i, 0)) << "query " << i;
        infinities += std::isinf(want.out.at(i, 0));
        for (std::int64_t j = 0; j < 3 * kDim; ++j)
          ASSERT_TRUE(std::isfinite(want.dqkv.at(i, j)) || !std::isfinite(problem.dqkv.at(i, j))) << i << " " << j;
      }
      EXPECT_EQ(infinities > 20, dropout > 0);
      EXPECT_FALSE(std::isfinite(problem.dqkv.at(9, 2 * kDim))) << "dv, a sum of 70 numbers of 65504";
    }
}

// The result is that of f32 arithmetic, rounded to fp16, also where operands of the matmuls are two bf16 parts: these
// leave out 2^-16 of each term at most.
TEST(Attention, Fp16IsAsExactAsItsRounding) {
  const auto expect_rounded = [](const Matrix& got, const Matrix& want, float error, std::string_view what) {
    for (std::int64_t i = 0; i < want.rows(); ++i)
      for (std::int64_t j = 0; j < want.cols(); ++j)
        ASSERT_NEAR(got.at(i, j), want.at(i, j), error + std::abs(want.at(i, j)) / 2048)
            << what << " row " << i << " column " << j;
  };
  for (const AttentionImpl& impl : fast_impls(DType::f16)) {
    SCOPED_TRACE(impl.name);
    Setting setting{
        .lengths = {200, 33}, .keys = {200, 31}, .heads = 2, .dim = 64, .type = DType::f16, .dropout = 0.1f};
    Problem got(setting);
    setting.type = DType::f32;
    Problem want(setting);
    const auto copy = [](const Matrix& from, Matrix& to) {
      for (std::int64_t i = 0; i < from.rows(); ++i)
        for (std::int64_t j = 0; j < from.cols(); ++j) to.put(i, j, from.at(i, j));
    };
    copy(got.qkv, want.qkv);
    copy(got.dout, want.dout);
    impl.forward(got.args());
    reference().forward(want.args());
    expect_rounded(got.out, want.out, 4e-6f, "out");
    copy(got.out, want.out);
    impl.backward(got.args(), got.grads());
    reference().backward(want.args(), want.grads());
    expect_rounded(got.dqkv, want.dqkv, 2e-5f, "gradients");
  }
}

TEST(Attention, NanDoesNotLingerInScratch) {
  cpu::set_num_threads(1);
  for_each_fast_impl([](const AttentionImpl& impl, DType type) {
    Problem problem({.lengths = {80}, .keys = {80}, .dim = 48, .type = type});
    for (std::int64_t i = 0; i < 80; ++i)
      for (std::int64_t j = 0; j < problem.qkv.cols(); ++j)
        problem.qkv.put(i, j, std::numeric_limits<float>::quiet_NaN());
    run(impl, problem);
    compare({.lengths = {33}, .keys = {31}, .dim = 45, .type = type});
  });
  cpu::set_num_threads(0);
}

}  // namespace
}  // namespace hearth::kernels
