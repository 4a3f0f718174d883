#include "hearth/ops/rows.h"

#include <gtest/gtest.h>

#include "hearth/ops/dropout.h"
#include "hearth/ops/layer_norm.h"
#include "hearth/ops/linear.h"
#include "tests/ops/op_case.h"

namespace hearth::ops {
namespace {

formula::Numbers first_rows(const kernels::Sequences& sequences, const formula::Numbers& x, std::size_t cols) {
  formula::Numbers y;
  formula::for_each_token(sequences, [&](std::size_t, std::uint32_t position, std::size_t token) {
    if (position == 0) y.insert(y.end(), x.begin() + token * cols, x.begin() + (token + 1) * cols);
  });
  return y;
}

TEST(FirstTokens, HasItsDerivative) {
  OpCase test;
  test.inputs = {{"x", {12, 9}}};
  test.op = [](Context& ctx, auto x, auto) { return first_tokens(ctx, x[0]); };
  test.formula = [](const Context& ctx, auto a) { return first_rows(ctx.sequences, a[0], 9); };
  expect_derivative(test);
  expect_close_in_narrow_formats(test, 0);
}

TEST(FirstTokens, AddsItsGradientToWhatTheOtherUsesGave) {
  OpCase test;
  test.packed = Packed({1, 1, 1});  // so that every token is a first token
  test.inputs = {{"x", {3, 6}}};
  test.parameters = {{"weight", {6, 6}}, {"gamma", {6}, 0.3f, 1}, {"beta", {6}}};
  test.op = [](Context& ctx, auto x, auto p) {
    const Var first = first_tokens(ctx, x[0]);
    const Var first_again = first_tokens(ctx, x[0]);
    const Var mixed = linear(ctx, first, *p[0], nullptr);
    return layer_norm(ctx, mixed, first_again, *p[1], *p[2], 1e-5f, 0, 0);
  };
  test.formula = [](const Context&, auto a) {
    return formula::layer_norm(formula::sum(formula::linear(a[0], a[1], 6, {}), a[0]), a[2], a[3], 1e-5);
  };
  expect_derivative(test);
}

OpCase dropout_case() {
  OpCase test;
  test.inputs = {{"x", {12, 140}}};
  test.op = [](Context& ctx, auto x, auto) { return dropout(ctx, x[0], 0.3f, 5); };
  test.formula = [](const Context& ctx, auto a) {
    return formula::dropout(ctx.sequences, ctx.dropout(0.3f, 5), a[0], 140);
  };
  return test;
}

TEST(Dropout, HasItsDerivative) { expect_derivative(dropout_case()); }

TEST(Dropout, IsCloseInNarrowFormats) { expect_close_in_narrow_formats(dropout_case(), 1); }

TEST(Dropout, TwiceHasItsDerivativeAndOtherMasks) {
  OpCase test = dropout_case();
  test.op = [](Context& ctx, auto x, auto) {
    const Var once = dropout(ctx, x[0], 0.3f, 5);
    return dropout(ctx, once, 0.3f, 6);
  };
  test.formula = [](const Context& ctx, auto a) {
    const formula::Numbers once = formula::dropout(ctx.sequences, ctx.dropout(0.3f, 5), a[0], 140);
    return formula::dropout(ctx.sequences, ctx.dropout(0.3f, 6), once, 140);
  };
  expect_derivative(test);
}

TEST(Dropout, IsNothingOutsideTraining) {
  const Var x(tensor_of({1, 2}, {1, 2}));
  Context ctx;
  EXPECT_EQ(dropout(ctx, x, 0.9f, 1).value().raw(), x.value().raw());
  ctx.training = true;
  EXPECT_EQ(dropout(ctx, x, 0, 1).value().raw(), x.value().raw());
}

}  // namespace
}  // namespace hearth::ops
