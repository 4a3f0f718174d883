#include "hearth/kernels/update/optimizer.h"

#include <gtest/gtest.h>

#include <algorithm>
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

BFloat16* bf16_of(Buffer& buffer) { return static_cast<BFloat16*>(buffer.data()); }

// Elements that differ. They differ by one unit of bf16 at most: the f32 numbers before rounding may differ in their
// last place, which changes how few of them are rounded.
std::int64_t count_of_differing(const Buffer& actual, const Buffer& expected, std::string_view what) {
  expect_close(actual, expected, unit_of(DType::bf16), 0, what);
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < actual.size(); ++i) count += actual.at(i) == expected.at(i) ? 0 : 1;
  return count;
}

TEST(AdamW16Bit, MatchesReference) {
  AdamWStep step;
  step.lr = 1e-3;
  step.weight_decay = 0.01;
  step.grad_scale = 0.7f;
  std::int64_t all = 0, differing = 0;
  for (const std::int64_t first : {std::int64_t{0}, std::int64_t{1234567}, (std::int64_t{1} << 32) - 10})
    for (const std::int64_t n : sizes()) {
      Buffer p(DType::f32, n, 1), m(DType::bf16, n), v(DType::bf16, n);
      for (step.step = 1; step.step <= 5; ++step.step) {
        Buffer g(DType::f32, n, static_cast<std::uint32_t>(step.step));
        Buffer expected_p = p, expected_m = m, expected_v = v;
        adamw_16bit(step, first, n, p.floats(), g.floats(), bf16_of(m), bf16_of(v));
        reference::adamw_16bit(step, first, n, expected_p.floats(), g.floats(), bf16_of(expected_m),
                               bf16_of(expected_v));
        expect_close(p, expected_p, 6e-7, 1e-8, "p");
        differing += count_of_differing(m, expected_m, "m") + count_of_differing(v, expected_v, "v");
        all += 2 * n;
      }
    }
  EXPECT_LT(differing, all / 2000);
}

// The weights are those of f32 moments as long as the moments were stored without rounding.
TEST(AdamW16Bit, UpdatesTheWeightsBeforeItRounds) {
  constexpr std::int64_t kCount = 1000;
  AdamWStep step;
  step.lr = 1e-3;
  step.step = 7;
  Buffer p(DType::f32, kCount, 1), g(DType::f32, kCount, 2), m(DType::bf16, kCount, 3), v(DType::bf16, kCount);
  Buffer wide_p = p, wide_m(DType::f32, kCount), wide_v(DType::f32, kCount);
  for (std::int64_t i = 0; i < kCount; ++i) {
    v.set(i, m.at(i) * m.at(i));
    wide_m.set(i, m.at(i));
    wide_v.set(i, v.at(i));
  }
  adamw_16bit(step, 0, kCount, p.floats(), g.floats(), bf16_of(m), bf16_of(v));
  adamw(step, kCount, wide_p.floats(), g.floats(), wide_m.floats(), wide_v.floats());
  EXPECT_TRUE(p == wide_p);
  expect_close(m, wide_m, unit_of(DType::bf16), 0, "m");
  expect_close(v, wide_v, unit_of(DType::bf16), 0, "v");
}

// With betas of 0 the moments are the gradient and its square: the kernel does nothing but round them.
AdamWStep only_rounding(std::int64_t number) {
  AdamWStep step;
  step.beta1 = step.beta2 = 0;
  step.step = number;
  return step;
}

// The errors of rounding in units of bf16, and how they go together with the errors `lag` elements on.
struct Errors {
  std::vector<double> m, v;

  static double mean(const std::vector<double>& errors) {
    double sum = 0;
    for (const double error : errors) sum += error;
    return sum / static_cast<double>(errors.size());
  }
  static double correlation(const std::vector<double>& a, const std::vector<double>& b, std::size_t lag = 0) {
    double ab = 0, aa = 0, bb = 0;
    for (std::size_t i = 0; i + lag < a.size(); ++i) {
      ab += a[i] * b[i + lag];
      aa += a[i] * a[i];
      bb += b[i + lag] * b[i + lag];
    }
    return ab / std::sqrt(aa * bb);
  }
};

// n elements with the gradient 1 + part / 128, whose neighbours in bf16 are 1 and 1 + 1 / 128.
Errors errors_of_step(std::int64_t number, std::int64_t n, float part) {
  constexpr double kUnit = 0x1p-7;
  const float gradient = 1 + part * 0x1p-7f, square = gradient * gradient;
  Buffer p(DType::f32, n), g(DType::f32, n), m(DType::bf16, n), v(DType::bf16, n);
  for (std::int64_t i = 0; i < n; ++i) g.set(i, gradient);
  adamw_16bit(only_rounding(number), 0, n, p.floats(), g.floats(), bf16_of(m), bf16_of(v));
  Errors errors;
  for (std::int64_t i = 0; i < n; ++i) {
    errors.m.push_back((m.at(i) - gradient) / kUnit);
    errors.v.push_back((v.at(i) - square) / kUnit);
  }
  return errors;
}

TEST(AdamW16Bit, RoundsWithoutBias) {
  constexpr std::int64_t kCount = 1 << 16;
  for (const float part : {1.0f / 512, 0.1f, 0.25f, 0.5f, 0.8f, 0.99f}) {
    Errors all;  // the same element in many steps
    for (std::int64_t step = 1; step <= 20; ++step) {
      const Errors errors = errors_of_step(step, kCount, part);
      const double allowed = 5 * 0.5 / std::sqrt(double{kCount});  // five standard deviations
      EXPECT_NEAR(Errors::mean(errors.m), 0, allowed) << part << " " << step;
      EXPECT_NEAR(Errors::mean(errors.v), 0, allowed) << part << " " << step;
      EXPECT_LE(*std::ranges::max_element(errors.m), 1);
      EXPECT_GE(*std::ranges::min_element(errors.m), -1);
    }
    for (std::int64_t step = 1; step <= 4000; ++step) {
      const Errors errors = errors_of_step(step, 8, part);
      all.m.insert(all.m.end(), errors.m.begin(), errors.m.end());
      all.v.insert(all.v.end(), errors.v.begin(), errors.v.end());
    }
    const double allowed = 5 * 0.5 / std::sqrt(static_cast<double>(all.m.size()));
    EXPECT_NEAR(Errors::mean(all.m), 0, allowed) << part;
    EXPECT_NEAR(Errors::mean(all.v), 0, allowed) << part;
  }
}

TEST(AdamW16Bit, RoundsMomentsElementsAndStepsIndependently) {
  constexpr std::int64_t kCount = 1 << 18;
  const double allowed = 5 / std::sqrt(double{kCount});
  Errors before = errors_of_step(1, kCount, 0.5f);
  for (std::int64_t step = 2; step <= 6; ++step) {
    Errors errors = errors_of_step(step, kCount, 0.5f);
    EXPECT_NEAR(Errors::correlation(errors.m, errors.v), 0, allowed);
    EXPECT_NEAR(Errors::correlation(errors.m, before.m), 0, allowed);
    EXPECT_NEAR(Errors::correlation(errors.v, before.v), 0, allowed);
    EXPECT_NEAR(Errors::correlation(errors.m, before.v), 0, allowed);
    for (const std::size_t lag : {1, 2, 8, 16, 768, 1024, 65536}) {
      EXPECT_NEAR(Errors::correlation(errors.m, errors.m, lag), 0, 1.2 * allowed) << lag;
      EXPECT_NEAR(Errors::correlation(errors.v, errors.v, lag), 0, 1.2 * allowed) << lag;
    }
    before = std::move(errors);
  }
}

TEST(AdamW16Bit, KeepsWhatBf16Holds) {
  const float values[] = {0, -0.0f, 1, -1, 0.0078125f, 0x1p-126f, 0x1.fep127f, -0x1.fep127f};
  for (const float value : values) {
    Buffer p(DType::f32, 100), g(DType::f32, 100), m(DType::bf16, 100), v(DType::bf16, 100);
    for (std::int64_t i = 0; i < 100; ++i) g.set(i, value);
    adamw_16bit(only_rounding(3), 0, 100, p.floats(), g.floats(), bf16_of(m), bf16_of(v));
    for (std::int64_t i = 0; i < 100; ++i) EXPECT_EQ(m.at(i), value);
  }
}

// The largest numbers of f32 lie above those of bf16.
TEST(AdamW16Bit, StaysFiniteWhereTheMomentsAre) {
  constexpr std::int64_t kCount = 1000;
  for (const float sign : {1.0f, -1.0f}) {
    Buffer p(DType::f32, kCount), g(DType::f32, kCount), m(DType::bf16, kCount), v(DType::bf16, kCount);
    for (std::int64_t i = 0; i < kCount; ++i) g.set(i, sign * std::numeric_limits<float>::max());
    adamw_16bit(only_rounding(1), 0, kCount, p.floats(), g.floats(), bf16_of(m), bf16_of(v));
    for (std::int64_t i = 0; i < kCount; ++i) {
      EXPECT_EQ(m.at(i), sign * 0x1.fep127f);
      EXPECT_EQ(v.at(i), std::numeric_limits<float>::infinity());
    }
  }
}

TEST(AdamW16Bit, KeepsInfinityAndNaN) {
  constexpr std::int64_t kCount = 1000;
  const float infinity = std::numeric_limits<float>::infinity();
  const float negative_nan = std::copysign(std::nanf(""), -1.0f),
              signaling = std::numeric_limits<float>::signaling_NaN();
  for (const float value : {infinity, -infinity, std::nanf(""), negative_nan, signaling}) {
    Buffer p(DType::f32, kCount), g(DType::f32, kCount), m(DType::bf16, kCount), v(DType::bf16, kCount);
    for (std::int64_t i = 0; i < kCount; ++i) g.set(i, value);
    adamw_16bit(only_rounding(1), 0, kCount, p.floats(), g.floats(), bf16_of(m), bf16_of(v));
    for (std::int64_t i = 0; i < kCount; ++i) {
      if (std::isinf(value)) {
        EXPECT_EQ(m.at(i), value);
        EXPECT_EQ(v.at(i), infinity);
      } else {
        EXPECT_TRUE(std::isnan(m.at(i)) && std::isnan(v.at(i)) && std::isnan(p.at(i)));
      }
    }
  }
}

TEST(AdamW16Bit, MomentsDecayToZeroInsteadOfStayingSubnormal) {
  constexpr std::int64_t kCount = 100;
  AdamWStep step;
  step.lr = 1e-3;
  Buffer p(DType::f32, kCount, 1), g(DType::f32, kCount), m(DType::bf16, kCount, 2, 1e-4f), v(DType::bf16, kCount);
  for (std::int64_t i = 0; i < kCount; ++i) v.set(i, 1e-8f);
  m.set(0, 0x1p-126f);
  m.set(1, 0x1p-133f);
  for (step.step = 1; step.step <= 900; ++step.step) {
    adamw_16bit(step, 0, kCount, p.floats(), g.floats(), bf16_of(m), bf16_of(v));
    for (std::int64_t i = 0; i < kCount; ++i) ASSERT_NE(std::fpclassify(m.at(i)), FP_SUBNORMAL) << step.step;
  }
  for (std::int64_t i = 0; i < kCount; ++i) EXPECT_EQ(m.at(i), 0);
}

// However an array is cut into calls, the same elements are rounded the same way.
TEST(AdamW16Bit, DoesNotDependOnPieces) {
  constexpr std::int64_t kCount = 1003, kFirst = 77;
  AdamWStep step;
  step.lr = 1e-3;
  step.step = 3;
  Buffer p(DType::f32, kCount, 1), g(DType::f32, kCount, 2), m(DType::bf16, kCount, 3), v(DType::bf16, kCount);
  Buffer piece_p = p, piece_m = m, piece_v = v;
  adamw_16bit(step, kFirst, kCount, p.floats(), g.floats(), bf16_of(m), bf16_of(v));
  for (std::int64_t begin = 0, size = 1; begin < kCount; begin += size, size = size * 5 % 97 + 1) {
    const std::int64_t n = std::min(size, kCount - begin);
    adamw_16bit(step, kFirst + begin, n, piece_p.floats() + begin, g.floats() + begin, bf16_of(piece_m) + begin,
                bf16_of(piece_v) + begin);
  }
  EXPECT_TRUE(p == piece_p);
  EXPECT_TRUE(m == piece_m);
  EXPECT_TRUE(v == piece_v);
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
  expect_same_for_any_threads([&] {
    Buffer p(DType::f32, kCount, 1), m(DType::bf16, kCount, 3), v(DType::bf16, kCount);
    adamw_16bit(step, 5, kCount, p.floats(), g.floats(), bf16_of(m), bf16_of(v));
    return std::make_tuple(p, m, v);
  });
}

}  // namespace
}  // namespace hearth::kernels
