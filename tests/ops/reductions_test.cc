#include "hearth/ops/reductions.h"

#include <gtest/gtest.h>

#include "hearth/ops/softmax.h"
#include "tests/ops/op_case.h"

namespace hearth::ops {
namespace {

OpCase total_case(Var (*op)(Context&, const Var&), double factor) {
  OpCase test;
  test.inputs = {{"x", {12, 7}, 1, 0.5f}};
  test.op = [=](Context& ctx, auto x, auto) { return op(ctx, x[0]); };
  test.formula = [=](const Context&, auto a) {
    Dual total;
    for (const Dual& x : a[0]) total += x;
    return formula::Numbers{factor * total};
  };
  return test;
}

TEST(Sum, HasItsDerivative) {
  expect_derivative(total_case(sum, 1));
  expect_close_in_narrow_formats(total_case(sum, 1), 1);
}

TEST(Mean, HasItsDerivative) {
  expect_derivative(total_case(mean, 1.0 / 84));
  expect_close_in_narrow_formats(total_case(mean, 1.0 / 84), 1);
}

TEST(Sum, IsOneNumberInF32) {
  Context ctx;
  const Var x(Tensor::zeros({3, 2}, DType::bf16));
  EXPECT_EQ(sum(ctx, x).value().shape(), Shape{});
  EXPECT_EQ(mean(ctx, x).value().type(), DType::f32);
  EXPECT_EQ(sum(ctx, Var(Tensor::zeros({0, 2}, DType::f32))).value().item(), 0);
}

OpCase softmax_case(bool log) {
  OpCase test;
  test.inputs = {{"x", {3, 2, 9}, 2}};
  test.op = [=](Context& ctx, auto x, auto) { return log ? log_softmax(ctx, x[0]) : softmax(ctx, x[0]); };
  test.formula = [=](const Context&, auto a) {
    formula::Numbers y;
    for (std::size_t first = 0; first < a[0].size(); first += 9)
      for (std::size_t i = 0; i < 9; ++i) {
        const Dual log_p = -formula::negative_log_likelihood(std::span(a[0]).subspan(first, 9), i);
        y.push_back(log ? log_p : exp(log_p));
      }
    return y;
  };
  return test;
}

TEST(Softmax, HasItsDerivative) {
  for (const bool log : {false, true}) {
    expect_derivative(softmax_case(log));
    expect_close_in_narrow_formats(softmax_case(log), 4);
  }
}

}  // namespace
}  // namespace hearth::ops
