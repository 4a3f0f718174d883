#include "hearth/ops/elementwise.h"

#include <gtest/gtest.h>

#include "hearth/ops/cast.h"
#include "tests/ops/op_case.h"

namespace hearth::ops {
namespace {

using Pair = Var (*)(Context&, const Var&, const Var&);

// op(a, b), op(a, a) or op(a, constant)
OpCase pair_case(Pair op, const std::function<Dual(const Dual&, const Dual&)>& f, bool same) {
  OpCase test;
  test.inputs = {{"a", {12, 5}}};
  if (!same) test.inputs.push_back({"b", {12, 5}});
  test.op = [=](Context& ctx, auto x, auto) { return op(ctx, x[0], x[same ? 0 : 1]); };
  test.formula = [=](const Context&, auto a) {
    formula::Numbers y;
    for (std::size_t i = 0; i < a[0].size(); ++i) y.push_back(f(a[0][i], a[same ? 0 : 1][i]));
    return y;
  };
  return test;
}

void expect_pair(Pair op, const std::function<Dual(const Dual&, const Dual&)>& f) {
  expect_derivative(pair_case(op, f, false));
  expect_close_in_narrow_formats(pair_case(op, f, false), 1);
}

TEST(Add, HasItsDerivative) {
  const auto f = [](const Dual& a, const Dual& b) { return a + b; };
  expect_pair(add, f);
  expect_derivative(pair_case(add, f, true));
}

TEST(Subtract, HasItsDerivative) {
  expect_pair(subtract, [](const Dual& a, const Dual& b) { return a - b; });
}

TEST(Multiply, HasItsDerivative) {
  const auto f = [](const Dual& a, const Dual& b) { return a * b; };
  expect_pair(multiply, f);
  expect_derivative(pair_case(multiply, f, true));
}

TEST(Pairs, LeaveInputsAloneThatNeedNoGradient) {
  for (const Pair op : {add, subtract, multiply}) {
    Tape tape;
    Context ctx;
    ctx.tape = &tape;
    const Var a(tensor_of({1, 2}, {2}), true), b(tensor_of({3, 4}, {2}));
    op(ctx, b, b);
    tape.backward_from(op(ctx, a, b), tensor_of({1, 1}, {2}));
    EXPECT_TRUE(a.grad().defined());
    EXPECT_FALSE(b.grad().defined());
    tape.backward_from(op(ctx, b, a), tensor_of({1, 1}, {2}));
    EXPECT_FALSE(b.grad().defined());
  }
}

// An op may write into the gradient that it is given, so no two values share the memory of one.
TEST(Add, GivesEachInputAGradientOfItsOwn) {
  Tape tape;
  Context ctx;
  ctx.tape = &tape;
  const Var a(tensor_of({1, 2}, {2}), true), b(tensor_of({3, 4}, {2}), true);
  tape.backward_from(add(ctx, a, b), tensor_of({5, 6}, {2}));
  EXPECT_NE(a.grad().raw(), b.grad().raw());
}

TEST(Scale, HasItsDerivative) {
  OpCase test;
  test.inputs = {{"x", {12, 5}}};
  test.op = [](Context& ctx, auto x, auto) { return scale(ctx, x[0], -1.5f); };
  test.formula = [](const Context&, auto a) {
    formula::Numbers y;
    for (const Dual& x : a[0]) y.push_back(-1.5 * x);
    return y;
  };
  expect_derivative(test);
  expect_close_in_narrow_formats(test, 1);
}

TEST(Activation, HasItsDerivative) {
  using kernels::Activation;
  for (const Activation kind :
       {Activation::none, Activation::gelu, Activation::gelu_tanh, Activation::relu, Activation::tanh}) {
    OpCase test;
    test.inputs = {{"x", {12, 5}}};
    test.op = [=](Context& ctx, auto x, auto) { return activation(ctx, x[0], kind); };
    test.formula = [=](const Context&, auto a) {
      formula::Numbers y;
      for (const Dual& x : a[0]) y.push_back(formula::activated(kind, x));
      return y;
    };
    expect_derivative(test);
    expect_close_in_narrow_formats(test, 2);
  }
}

TEST(Cast, HasItsDerivative) {
  OpCase test;
  test.inputs = {{"x", {12, 5}}};
  test.op = [](Context& ctx, auto x, auto) { return cast(ctx, x[0], DType::f32); };
  test.formula = [](const Context&, auto a) { return a[0]; };
  expect_derivative(test);
  expect_close_in_narrow_formats(test, 1);
  test.op = [](Context& ctx, auto x, auto) { return cast(ctx, cast(ctx, x[0], DType::bf16), DType::f32); };
  expect_derivative(test);  // the numbers are those of bf16
}

}  // namespace
}  // namespace hearth::ops
