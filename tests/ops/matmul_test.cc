#include "hearth/ops/matmul.h"

#include <gtest/gtest.h>

#include "tests/ops/op_case.h"

namespace hearth::ops {
namespace {

constexpr std::size_t kM = 7, kN = 5, kK = 9;

Shape shape(std::size_t rows, std::size_t cols, bool transposed) {
  const auto r = static_cast<std::int64_t>(rows), c = static_cast<std::int64_t>(cols);
  return transposed ? Shape{c, r} : Shape{r, c};
}

OpCase matmul_case(const MatmulOptions& options) {
  OpCase test;
  test.inputs = {{"a", shape(kM, kK, options.transpose_a)}, {"b", shape(kK, kN, options.transpose_b)}};
  test.op = [=](Context& ctx, auto x, auto) { return matmul(ctx, x[0], x[1], options); };
  test.formula = [=](const Context&, auto x) {
    formula::Numbers y(kM * kN);
    for (std::size_t m = 0; m < kM; ++m)
      for (std::size_t n = 0; n < kN; ++n)
        for (std::size_t k = 0; k < kK; ++k)
          y[m * kN + n] +=
              x[0][options.transpose_a ? k * kM + m : m * kK + k] * x[1][options.transpose_b ? n * kK + k : k * kN + n];
    return y;
  };
  return test;
}

TEST(Matmul, HasItsDerivative) {
  for (const bool a : {false, true})
    for (const bool b : {false, true}) {
      SCOPED_TRACE(testing::Message() << a << b);
      const OpCase test = matmul_case({.transpose_a = a, .transpose_b = b});
      expect_derivative(test);
      expect_close_in_narrow_formats(test, 4);
    }
}

TEST(Matmul, GivesLogitsInF32) {
  const OpCase test = matmul_case({.transpose_b = true, .out = DType::f32});
  expect_derivative(test);
  expect_close_in_narrow_formats(test, 4);
  Context ctx;
  const Var x(Tensor::zeros({2, 3}, DType::bf16));
  EXPECT_EQ(matmul(ctx, x, x, {.transpose_b = true, .out = DType::f32}).value().type(), DType::f32);
}

TEST(Matmul, OfOneValueAddsBothGradients) {
  OpCase test;
  test.inputs = {{"x", {6, 6}}};
  test.op = [](Context& ctx, auto x, auto) { return matmul(ctx, x[0], x[0], {.transpose_b = true}); };
  test.formula = [](const Context&, auto a) { return formula::linear(a[0], a[0], 6, {}); };
  expect_derivative(test);
}

}  // namespace
}  // namespace hearth::ops
