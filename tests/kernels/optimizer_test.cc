#include "hearth/kernels/update/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "hearth/kernels/reference/reference.h"
#include "hearth/kernels/update/sum_arrays.h"
#include "tests/kernels/buffers.h"

namespace hearth::kernels {
namespace {

TEST(SumOfSquares, MatchesReference) {
  for (const std::int64_t n : sizes()) {
    Buffer x(DType::f32, n, 1);
    const double expected = reference::sum_of_squares(n, x.floats());
    EXPECT_NEAR(sum_of_squares(n, x.floats()), expected, 1e-12 * expected);
  }
}

TEST(SumOfSquares, OfRowsIsThatOfTheseRows) {
  constexpr std::int64_t kCols = 37;
  Buffer table(DType::f32, 50 * kCols, 1);
  const std::vector<std::int32_t> rows{0, 3, 4, 49};
  double expected = 0;
  for (const std::int32_t row : rows) expected += reference::sum_of_squares(kCols, table.floats() + row * kCols);
  EXPECT_NEAR(sum_of_squares_of_rows(rows, kCols, table.floats()), expected, 1e-12 * expected);
  EXPECT_EQ(sum_of_squares_of_rows({}, kCols, table.floats()), 0);
}

TEST(SumOfSquares, ShowsWhatIsNotFinite) {
  for (const std::int64_t where : {0, 16, 20000, 40000}) {
    Buffer x(DType::f32, 40001, 1);
    x.set(where, std::numeric_limits<float>::infinity());
    EXPECT_TRUE(std::isinf(sum_of_squares(40001, x.floats())));
    x.set(where, std::nanf(""));
    EXPECT_TRUE(std::isnan(sum_of_squares(40001, x.floats())));
  }
  Buffer huge(DType::f32, 100, 1, 1e30f);
  EXPECT_TRUE(std::isfinite(sum_of_squares(100, huge.floats())));
}

TEST(SumArrays, AddsInTheOrderOfTheArrays) {
  for (const std::size_t count : {1, 2, 3, 16})
    for (const std::int64_t n : sizes()) {
      std::vector<Buffer> arrays;
      for (std::size_t k = 0; k < count; ++k) arrays.emplace_back(DType::f32, n, static_cast<std::uint32_t>(k + 1));
      std::vector<const float*> pointers;
      for (Buffer& array : arrays) pointers.push_back(array.floats());
      const std::int64_t begin = n / 3;
      std::vector<float> expected(arrays.back().floats(), arrays.back().floats() + n);
      for (std::int64_t i = begin; i < n; ++i) {
        float sum = pointers[0][i];
        for (std::size_t k = 1; k < count; ++k) sum += pointers[k][i];
        expected[static_cast<std::size_t>(i)] = sum;
      }
      sum_arrays(pointers, begin, n, arrays.back().floats());
      EXPECT_EQ(std::vector<float>(arrays.back().floats(), arrays.back().floats() + n), expected);
    }
}

TEST(AdamW, MatchesReference) {
  AdamWStep step;
  step.lr = 1e-3;
  step.weight_decay = 0.01;
  step.grad_scale = 0.7f;
  for (const std::int64_t n : sizes()) {
    Buffer p(DType::f32, n, 1), m(DType::f32, n), v(DType::f32, n);
    Buffer expected_p = p, expected_m = m, expected_v = v;
    for (step.step = 1; step.step <= 5; ++step.step) {
      Buffer g(DType::f32, n, static_cast<std::uint32_t>(step.step));
      adamw(step, n, p.floats(), g.floats(), m.floats(), v.floats());
      reference::adamw(step, n, expected_p.floats(), g.floats(), expected_m.floats(), expected_v.floats());
    }
    expect_close(p, expected_p, 6e-7, 1e-8, "p");
    expect_close(m, expected_m, 1e-6, 1e-7, "m");
    expect_close(v, expected_v, 1e-6, 1e-9, "v");
  }
}

// The first step is lr * g / (|g| + eps) whatever the betas; the decay goes before it.
TEST(AdamW, FirstStep) {
  AdamWStep step;
  step.lr = 0.1;
  step.weight_decay = 0.5;
  float p[] = {1, 1, 1}, m[3] = {}, v[3] = {};
  const float g[] = {3, -1e-3f, 0};
  adamw(step, 3, p, g, m, v);
  EXPECT_NEAR(p[0], 0.95f - 0.1f, 1e-6);
  EXPECT_NEAR(p[1], 0.95f + 0.1f, 2e-6);
  EXPECT_NEAR(p[2], 0.95f, 1e-7);
  EXPECT_NEAR(m[0], 0.3f, 1e-6);
  EXPECT_NEAR(v[0], 0.009f, 1e-8);
}

// The moment of an embedding row that no batch uses any more.
TEST(AdamW, MomentsDecayToZeroInsteadOfStayingSubnormal) {
  AdamWStep step;
  step.lr = 1e-3;
  const float g[5] = {};
  float p[5] = {1, 1, 1, 1, 1}, v[5] = {1e-8f, 1e-8f, 1e-8f, 1e-8f, 1e-8f};
  float m[5] = {1e-4f, -1e-4f, 4 * std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::min(), 0};
  for (step.step = 1; step.step <= 900; ++step.step) {
    adamw(step, 5, p, g, m, v);
    for (const float moment : m) EXPECT_NE(std::fpclassify(moment), FP_SUBNORMAL) << step.step;
  }
  for (const float moment : m) EXPECT_EQ(moment, 0);
}

// A NaN must not be mistaken for a number that is too small.
TEST(AdamW, KeepsNaN) {
  AdamWStep step;
  step.lr = 1e-3;
  const float g[] = {std::nanf("")};
  float p[] = {1}, m[] = {0}, v[] = {0};
  adamw(step, 1, p, g, m, v);
  EXPECT_TRUE(std::isnan(m[0]) && std::isnan(v[0]) && std::isnan(p[0]));
}

TEST(Sgd, MatchesReference) {
  for (const double momentum : {0.0, 0.9}) {
    for (const std::int64_t n : sizes()) {
      SgdStep step;
      step.lr = 1e-2;
      step.momentum = momentum;
      step.weight_decay = 0.1;
      step.grad_scale = 0.5f;
      Buffer p(DType::f32, n, 1), buffer(DType::f32, n, 9), expected_p = p, expected_buffer = buffer;
      for (std::uint32_t i = 0; i < 3; ++i) {
        step.first = i == 0;
        Buffer g(DType::f32, n, i);
        sgd(step, n, p.floats(), g.floats(), momentum == 0 ? nullptr : buffer.floats());
        reference::sgd(step, n, expected_p.floats(), g.floats(), expected_buffer.floats());
      }
      expect_close(p, expected_p, 3e-7, 1e-7, "p");
      expect_close(buffer, expected_buffer, 1e-6, 1e-6, "buffer");
    }
  }
}

TEST(AdamW, ScalesTheUpdateButNotTheDecay) {
  AdamWStep step;
  step.lr = 0.1;
  step.weight_decay = 0.5;
  step.update_scale = 0.25;
  float p[] = {1}, m[] = {0}, v[] = {0};
  const float g[] = {3};
  adamw(step, 1, p, g, m, v);
  EXPECT_NEAR(p[0], 0.95f - 0.025f, 1e-6);
}

TEST(Sgd, MomentumDecaysToZeroInsteadOfStayingSubnormal) {
  SgdStep step;
  step.momentum = 0.9;
  float p[] = {1}, buffer[] = {4 * std::numeric_limits<float>::min()};
  const float g[] = {0};
  for (int i = 0; i < 30; ++i) sgd(step, 1, p, g, buffer);
  EXPECT_EQ(buffer[0], 0);
}

TEST(Adagrad, MatchesReference) {
  AdagradStep step;
  step.lr = 1e-2;
  step.weight_decay = 0.1;
  step.grad_scale = 0.5f;
  for (const std::int64_t n : sizes()) {
    Buffer p(DType::f32, n, 1), sum(DType::f32, n), expected_p = p, expected_sum = sum;
    for (std::uint32_t i = 0; i < 3; ++i) {
      Buffer g(DType::f32, n, i);
      adagrad(step, n, p.floats(), g.floats(), sum.floats());
      reference::adagrad(step, n, expected_p.floats(), g.floats(), expected_sum.floats());
    }
    expect_close(p, expected_p, 1e-6, 1e-7, "p");
    expect_close(sum, expected_sum, 1e-6, 1e-7, "sum");
  }
}

TEST(RmsProp, MatchesReference) {
  RmsPropStep step;
  step.lr = 1e-2;
  step.weight_decay = 0.1;
  step.grad_scale = 0.5f;
  for (const double momentum : {0.0, 0.9}) {
    step.momentum = momentum;
    for (const std::int64_t n : sizes()) {
      Buffer p(DType::f32, n, 1), v(DType::f32, n), buffer(DType::f32, n);
      Buffer expected_p = p, expected_v = v, expected_buffer = buffer;
      for (std::uint32_t i = 0; i < 3; ++i) {
        Buffer g(DType::f32, n, i);
        rmsprop(step, n, p.floats(), g.floats(), v.floats(), momentum == 0 ? nullptr : buffer.floats());
        reference::rmsprop(step, n, expected_p.floats(), g.floats(), expected_v.floats(), expected_buffer.floats());
      }
      expect_close(p, expected_p, 1e-6, 1e-7, "p");
      expect_close(v, expected_v, 1e-6, 1e-9, "v");
      expect_close(buffer, expected_buffer, 1e-6, 1e-5, "buffer");  // sums of changes of up to 10
    }
  }
}

TEST(RmsProp, AveragesDecayToZeroInsteadOfStayingSubnormal) {
  RmsPropStep step;
  step.lr = 1e-2;
  step.momentum = 0.9;
  const float small = 4 * std::numeric_limits<float>::min(), g[] = {0};
  float p[] = {1}, v[] = {small}, buffer[] = {small};
  for (int i = 0; i < 200; ++i) rmsprop(step, 1, p, g, v, buffer);
  EXPECT_EQ(v[0], 0);
  EXPECT_EQ(buffer[0], 0);
}

TEST(Lion, MatchesReference) {
  LionStep step;
  step.lr = 1e-2;
  step.beta2 = 0.99;
  step.weight_decay = 0.1;
  step.grad_scale = 0.5f;
  for (const std::int64_t n : sizes()) {
    Buffer p(DType::f32, n, 1), m(DType::f32, n), expected_p = p, expected_m = m;
    for (std::uint32_t i = 0; i < 3; ++i) {
      Buffer g(DType::f32, n, i);
      lion(step, n, p.floats(), g.floats(), m.floats());
      reference::lion(step, n, expected_p.floats(), g.floats(), expected_m.floats());
    }
    expect_close(p, expected_p, 3e-7, 1e-7, "p");
    expect_close(m, expected_m, 1e-6, 1e-7, "m");
  }
}

TEST(Lion, StepsByTheSign) {
  LionStep step;
  step.lr = 0.1;
  step.weight_decay = 0.5;
  float p[] = {1, 1, 1, 1, 1}, m[] = {0, 0, 0, 1, 0};
  const float g[] = {3, -1e-30f, 0, -1, std::nanf("")};
  lion(step, 5, p, g, m);
  EXPECT_NEAR(p[0], 0.85f, 1e-6);
  EXPECT_NEAR(p[1], 1.05f, 1e-6);
  EXPECT_NEAR(p[2], 0.95f, 1e-6);
  EXPECT_NEAR(p[3], 0.85f, 1e-6);
  EXPECT_NEAR(m[3], 0.998f, 1e-6);
  EXPECT_TRUE(std::isnan(p[4]) && std::isnan(m[4]));
}

TEST(Optimizer, DoesNotDependOnThreads) {
  constexpr std::int64_t kCount = 100003;
  AdamWStep step;
  step.lr = 1e-3;
  step.weight_decay = 0.01;
  Buffer g(DType::f32, kCount, 2);
  expect_same_for_any_threads([&] {
    Buffer p(DType::f32, kCount, 1), m(DType::f32, kCount, 3), v(DType::f32, kCount);
    adamw(step, kCount, p.floats(), g.floats(), m.floats(), v.floats());
    return std::make_tuple(sum_of_squares(kCount, g.floats()), p, m, v);
  });
}

}  // namespace
}  // namespace hearth::kernels
