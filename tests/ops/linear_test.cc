#include "hearth/ops/linear.h"

#include <gtest/gtest.h>

#include "hearth/base/error.h"
#include "hearth/cpu/memory.h"
#include "hearth/ops/embedding.h"
#include "hearth/ops/grad.h"
#include "tests/ops/op_case.h"
#include "tests/support.h"

namespace hearth::ops {
namespace {

using kernels::Activation;

constexpr Activation kActivations[] = {Activation::none, Activation::gelu, Activation::gelu_tanh, Activation::relu,
                                       Activation::tanh};

OpCase linear_case(Activation activation, bool has_bias) {
  OpCase test;
  test.inputs = {{"x", {12, 16}}};
  test.parameters = {{"weight", {19, 16}, 0.3f}};
  if (has_bias) test.parameters.push_back({"bias", {19}});
  test.op = [=](Context& ctx, auto x, auto p) {
    return linear(ctx, x[0], *p[0], has_bias ? p[1] : nullptr, activation);
  };
  test.formula = [=](const Context&, auto a) {
    return formula::linear(a[0], a[1], 16, has_bias ? a[2] : formula::Numbers(), activation);
  };
  return test;
}

TEST(Linear, HasItsDerivative) {
  for (const Activation activation : kActivations)
    for (const bool bias : {false, true}) expect_derivative(linear_case(activation, bias));
}

TEST(Linear, IsCloseInNarrowFormats) {
  for (const Activation activation : kActivations) {
    SCOPED_TRACE(static_cast<int>(activation));
    // relu's derivative steps at zero, and an output within a rounding of zero may fall on its other side.
    if (activation != Activation::relu) expect_close_in_narrow_formats(linear_case(activation, true), 3);
  }
}

TEST(Linear, GivesLogitsOfF32FromNarrowInputs) {
  OpCase test;
  test.inputs = {{"x", {12, 16}}};
  test.parameters = {{"weight", {2, 16}, 0.3f}, {"bias", {2}}};
  test.op = [](Context& ctx, auto x, auto p) {
    const Var y = linear(ctx, x[0], *p[0], p[1], Activation::none, DType::f32);
    EXPECT_EQ(y.value().type(), DType::f32);
    return y;
  };
  expect_close_in_narrow_formats(test, 1);
  OpCase narrow = test;
  narrow.input_type = DType::bf16;
  expect_near(run(narrow).y, run(test).y, 1e-6, "the logits, of exact operands");
}

// So many tokens and outputs that the input is copied into blocks, where the matmul takes them.
TEST(Linear, IsCloseWithManyTokensAndOutputs) {
  OpCase test;
  test.inputs = {{"x", {1100, 32}}};
  test.parameters = {{"weight", {1152, 32}, 0.3f}, {"bias", {1152}}};
  test.op = [](Context& ctx, auto x, auto p) { return linear(ctx, x[0], *p[0], p[1]); };
  expect_close_in_narrow_formats(test, 3);
}

// The weight's gradient reads x, and the activation's derivative what it was applied to.
TEST(Linear, KeepsWhatItsBackwardReads) {
  const OneThread one_thread;
  constexpr std::int64_t kTokens = 300, kInputs = 512, kOutputs = 1024;
  for (const bool is_frozen : {false, true}) {
    ParameterStore store;
    Parameter& weight = store.add({{"weight", {kOutputs, kInputs}, 0}});
    if (is_frozen) store.freeze([](std::string_view) { return true; });
    store.allocate();
    weight.master.fill_zero();
    const auto kept = [&](Activation activation) {
      Tape tape;
      Context ctx;
      ctx.tape = &tape;
      const std::size_t before = cpu::pool_stats().in_use_bytes;
      const Var y = linear(ctx, Var(Tensor::zeros({kTokens, kInputs}, DType::f32), true), weight, nullptr, activation);
      return static_cast<double>(cpu::pool_stats().in_use_bytes - before - y.value().bytes()) /
             static_cast<double>(y.value().bytes());
    };
    kept(Activation::gelu);  // scratch that stays
    const double x = is_frozen ? 0 : 0.5;
    EXPECT_NEAR(kept(Activation::none), x, 0.05) << is_frozen;
    EXPECT_NEAR(kept(Activation::gelu), x + 1, 0.05) << is_frozen;
  }
}

TEST(Linear, AddsItsGradientsToWhatTheOtherUsesGave) {
  OpCase test;
  test.inputs = {{"x", {12, 16}}};
  test.parameters = {{"weight", {16, 16}, 0.3f}, {"bias", {16}}};
  test.op = [](Context& ctx, auto x, auto p) {
    const Var once = linear(ctx, x[0], *p[0], p[1], Activation::tanh);
    return linear(ctx, once, *p[0], p[1]);
  };
  test.formula = [](const Context&, auto a) {
    return formula::linear(formula::linear(a[0], a[1], 16, a[2], Activation::tanh), a[1], 16, a[2]);
  };
  expect_derivative(test);
}

TEST(Linear, SharesItsWeightWithAnEmbedding) {
  OpCase test;
  const std::vector<std::int32_t> ids{3, 0, 3, 6, 1, 0, 2, 2, 5, 0, 4, 3};
  test.parameters = {{"table", {7, 8}}, {"bias", {7}}};
  test.op = [=](Context& ctx, auto, auto p) {
    const Var x = embedding_sum(ctx, {{p[0], ids, 0}});
    return linear(ctx, x, *p[0], p[1]);
  };
  test.formula = [=](const Context&, auto a) {
    formula::Numbers looked_up = a[0];
    for (std::size_t c = 0; c < 8; ++c) looked_up[c].slope = 0;  // the padding row
    return formula::linear(formula::rows_of(looked_up, 8, ids), a[0], 8, a[1]);
  };
  expect_derivative(test);
}

TEST(Linear, ReadsTheWeightAgainOnceItChanged) {
  ParameterStore store;
  Parameter& weight = store.add({{"weight", {2, 2}, 0}});
  store.allocate();
  Context ctx;
  ctx.compute = DType::bf16;
  const Var x(tensor_of({1, 0, 0, 1}, {2, 2}, DType::bf16));
  const auto result = [&] { return numbers_of(linear(ctx, x, weight, nullptr).value()); };
  weight.master.copy_from(tensor_of({1, 2, 3, 4}, {2, 2}));
  EXPECT_EQ(result(), (std::vector<float>{1, 3, 2, 4}));
  weight.master.copy_from(tensor_of({5, 6, 7, 8}, {2, 2}));
  store.mark_changed();
  EXPECT_EQ(result(), (std::vector<float>{5, 7, 6, 8}));
}

TEST(Linear, LeavesInputsAloneThatNeedNoGradient) {
  ParameterStore store;
  Parameter& weight = store.add({{"weight", {2, 2}, 0}});
  store.allocate();
  Tape tape;
  Context ctx;
  ctx.tape = &tape;
  const Var x(tensor_of({1, 2, 3, 4}, {2, 2}));
  const Var y = linear(ctx, x, weight, nullptr);
  tape.backward_from(y, tensor_of({1, 1, 1, 1}, {2, 2}));
  EXPECT_FALSE(x.grad().defined());
  EXPECT_EQ(numbers_of(weight.grad), (std::vector<float>{4, 6, 4, 6}));
}

double sum_of_squares(const Tensor& tensor) {
  double sum = 0;
  for (const float number : numbers_of(tensor)) sum += double{number} * double{number};
  return sum;
}

// A weight that is used twice per pass, and one that is an embedding as well.
TEST(Linear, KnowsTheSumOfSquaresOfAGradientThatNothingElseWroteTo) {
  ParameterStore store;
  Parameter& table = store.add({{"table", {7, 16}, 0}});
  Parameter& weight = store.add({{"weight", {16, 16}, 0}});
  Parameter& bias = store.add({{"bias", {16}, 0}});
  Parameter& frozen = store.add({{"frozen", {16, 16}, 0}});
  table.is_embedding = true;
  store.freeze([](std::string_view name) { return name == "frozen"; });
  store.allocate();
  for (Parameter* parameter : {&table, &weight, &bias, &frozen})
    parameter->master.copy_from(tensor_of(random_numbers(parameter->shape.size(), 5, 0.3f), parameter->shape));
  store.mark_changed();
  store.zero_grad();
  for (int pass = 0; pass < 2; ++pass) {
    Tape tape;
    Context ctx;
    ctx.tape = &tape;
    const std::vector<std::int32_t> ids{3, 0, 6, 1, 1};
    const Var once = linear(ctx, embedding_sum(ctx, {{&table, ids, -1}}), weight, &bias);
    const Var y = linear(ctx, linear(ctx, once, weight, &bias), frozen, nullptr);
    tape.backward_from(linear(ctx, y, table, nullptr), tensor_of(random_numbers(35, 6), {5, 7}));
    ASSERT_TRUE(weight.grad_squares.has_value());
    EXPECT_NEAR(*weight.grad_squares, sum_of_squares(weight.grad), 1e-12 * *weight.grad_squares);
    for (const Parameter* parameter : {&table, &bias, &frozen}) EXPECT_FALSE(parameter->grad_squares.has_value());
  }

  grad_target(weight);
  EXPECT_FALSE(weight.grad_squares.has_value());
  table.grad_squares = 1;
  grad_target(table, std::vector<std::int32_t>{1});
  EXPECT_FALSE(table.grad_squares.has_value());
}

TEST(Linear, NamesTheWeightThatDoesNotFit) {
  ParameterStore store;
  Parameter& weight = store.add({{"qa_outputs.weight", {2, 8}, 0}});
  store.allocate();
  Context ctx;
  try {
    linear(ctx, Var(Tensor::zeros({3, 7}, DType::f32)), weight, nullptr);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "[linear] the input (3, 7) does not fit the weight qa_outputs.weight (2, 8)");
  }
}

}  // namespace
}  // namespace hearth::ops
