#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hearth/base/error.h"
#include "hearth/cpu/memory.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/ops/linear.h"
#include "tests/ops/op_case.h"
#include "tests/support.h"

namespace hearth::ops {
namespace {

using kernels::Activation;

// With the second number of tokens backward computes the output of the activation again.
constexpr std::int64_t kTokenCounts[] = {45, 1100};

OpCase feed_forward_case(Activation activation, bool has_bias, std::int64_t tokens = 12, std::int64_t inputs = 16,
                         std::int64_t width = 19) {
  OpCase test;
  test.inputs = {{"x", {tokens, inputs}}};
  test.parameters = {{"first", {width, inputs}, 0.3f}, {"second", {7, width}, 0.3f}};
  if (has_bias) test.parameters.insert(test.parameters.end(), {{"first bias", {width}}, {"second bias", {7}}});
  test.op = [=](Context& ctx, auto x, auto p) {
    return feed_forward(ctx, x[0], {p[0], has_bias ? p[2] : nullptr}, activation, {p[1], has_bias ? p[3] : nullptr});
  };
  test.formula = [=](const Context&, auto a) {
    const formula::Numbers none;
    return formula::linear(formula::linear(a[0], a[1], inputs, has_bias ? a[3] : none, activation), a[2], width,
                           has_bias ? a[4] : none, Activation::none);
  };
  return test;
}

TEST(FeedForward, HasItsDerivative) {
  for (const Activation activation :
       {Activation::none, Activation::gelu, Activation::gelu_tanh, Activation::relu, Activation::tanh})
    for (const bool bias : {false, true}) {
      SCOPED_TRACE(static_cast<int>(activation));
      expect_derivative(feed_forward_case(activation, bias));
    }
}

TEST(FeedForward, IsCloseInNarrowFormats) {
  for (const Activation activation : {Activation::none, Activation::gelu, Activation::gelu_tanh, Activation::tanh})
    expect_close_in_narrow_formats(feed_forward_case(activation, true), 4);
}

// 1,100 tokens: on AMX what lies between the layers is in blocks, and so is a copy of the input if the first layer has
// many outputs.
TEST(FeedForward, IsCloseInNarrowFormatsWithManyTokens) {
  for (const std::int64_t width : {96, 1152})
    expect_close_in_narrow_formats(feed_forward_case(Activation::gelu, true, 1100, 32, width), 4);
}

// The same of two ops, in this order of inputs: x, first, second, first bias, second bias.
OpCase in_two_ops(OpCase test, Activation activation) {
  test.op = [=](Context& ctx, auto x, auto p) {
    const Var hidden = linear(ctx, x[0], *p[0], p[2], activation, ctx.compute);
    return linear(ctx, hidden, *p[1], p[3], Activation::none, ctx.compute);
  };
  return test;
}

TEST(FeedForward, IsTwoLinearLayers) {
  for (const Activation activation : {Activation::gelu, Activation::gelu_tanh, Activation::relu, Activation::tanh})
    for (const std::int64_t tokens : kTokenCounts)
      for (const std::int64_t width : {19, 96})
        for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
          SCOPED_TRACE(testing::Message() << "activation " << static_cast<int>(activation) << ", " << tokens
                                          << " tokens, width " << width << " in " << name_of(type));
          OpCase test = feed_forward_case(activation, true, tokens, 32, width);
          test.input_type = type;
          const Outcome one = run(test), two = run(in_two_ops(test, activation));
          EXPECT_EQ(one.y, two.y);
          EXPECT_EQ(one.grads[2], two.grads[2]);
          EXPECT_EQ(one.grads[4], two.grads[4]);
          // In 16 bits two layers round the gradient between them once more.
          EXPECT_TRUE(type != DType::f32 || one == two);
        }
}

TEST(FeedForward, HasTheSameBitsForAnyNumberOfThreads) {
  for (const std::int64_t tokens : kTokenCounts)
    for (const DType type : {DType::f32, DType::bf16}) {
      OpCase test = feed_forward_case(Activation::gelu, true, tokens, 32, 96);
      test.input_type = type;
      expect_same_for_any_threads(test);
    }
}

TEST(FeedForward, TakesAnInputOfAnotherDtype) {
  for (const std::int64_t tokens : kTokenCounts)
    for (const DType input : {DType::f32, DType::bf16}) {
      SCOPED_TRACE(testing::Message() << tokens << " tokens, input in " << name_of(input));
      const OpCase exact = feed_forward_case(Activation::gelu, true, tokens, 32, 96);
      OpCase mixed = exact;
      mixed.input_type = input;
      mixed.op = [input, op = exact.op](Context& ctx, auto x, auto p) {
        ctx.compute = input == DType::f32 ? DType::bf16 : DType::f32;
        return op(ctx, x, p);
      };
      const Outcome actual = run(mixed), expected = run(exact);
      expect_near(actual.y, expected.y, 0x4p-8, "the value");
      for (std::size_t i = 0; i < exact.arrays().size(); ++i)
        expect_near(actual.grads[i], expected.grads[i], 0x4p-8, "the gradient of " + exact.arrays()[i].name);
    }
}

// One bias, and one weight or two, the first of which may be frozen.
TEST(FeedForward, MayShareParametersBetweenItsLayers) {
  struct Sharing {
    std::string name;
    std::size_t second_weight;
    std::vector<std::size_t> frozen;
  };
  for (const std::int64_t tokens : kTokenCounts)
    for (const auto& [name, second, frozen] :
         {Sharing{"one weight", 0, {}}, {"two weights", 2, {}}, {"two weights, the first one frozen", 2, {0}}}) {
      SCOPED_TRACE(testing::Message() << tokens << " tokens, " << name);
      OpCase one;
      one.inputs = {{"x", {tokens, 32}}};
      one.parameters = {{"weight", {32, 32}, 0.3f}, {"bias", {32}}};
      if (second != 0) one.parameters.push_back({"second weight", {32, 32}, 0.3f});
      one.frozen = frozen;
      OpCase two = one;
      one.op = [second = second](Context& ctx, auto x, auto p) {
        return feed_forward(ctx, x[0], {p[0], p[1]}, Activation::gelu, {p[second], p[1]});
      };
      two.op = [second = second](Context& ctx, auto x, auto p) {
        return linear(ctx, linear(ctx, x[0], *p[0], p[1], Activation::gelu), *p[second], p[1]);
      };
      EXPECT_TRUE(run(one) == run(two));
      if (frozen.empty()) expect_close_in_narrow_formats(one, 4);
    }
}

TEST(FeedForward, HasTheSameGradientsWhereOthersAreFrozen) {
  const std::vector<std::size_t> choices[] = {{0}, {1}, {2}, {3}, {0, 2}, {1, 3}, {0, 1}, {2, 3}, {0, 1, 2, 3}};
  for (const std::int64_t tokens : kTokenCounts)
    for (const DType type : {DType::f32, DType::bf16}) {
      OpCase test = feed_forward_case(Activation::gelu, true, tokens, 32, 96);
      test.input_type = type;
      const Outcome all = run(test);
      for (const std::vector<std::size_t>& frozen : choices) {
        SCOPED_TRACE(testing::Message() << tokens << " tokens, " << testing::PrintToString(frozen) << " frozen in "
                                        << name_of(type));
        test.frozen = frozen;
        Outcome expected = all;
        for (const std::size_t parameter : frozen) expected.grads[1 + parameter].clear();
        const Outcome actual = run(test);
        EXPECT_EQ(actual.y, expected.y);
        for (std::size_t i = 0; i < expected.grads.size(); ++i) {
          const std::string name = test.arrays()[i].name;
          // Without the weight's gradient that of the bias is added up in another order.
          if (name.ends_with("bias") && !expected.grads[i].empty())
            expect_near(actual.grads[i], expected.grads[i], 1e-6, name);
          else
            EXPECT_TRUE(actual.grads[i] == expected.grads[i]) << name;
        }
      }
    }
}

// Backward reads the input of the activation and, for the gradient of the second weight, its output; with many tokens
// it computes the output again. The gradient of the first weight reads x.
TEST(FeedForward, KeepsWhatItsBackwardReads) {
  const OneThread one_thread;
  constexpr std::int64_t kInputs = 512, kWidth = 1024, kOutputs = 8;
  struct Case {
    std::vector<std::string_view> frozen;
    bool x_needs_grad;
    double with_few, with_many;  // tokens; in arrays of kWidth columns, half of one is x
  };
  for (const Case& test : {Case{{}, true, 2.5, 1.5},
                           {{"first"}, true, 2, 1},
                           {{"second"}, true, 1.5, 1.5},
                           {{"first", "second"}, true, 1, 1},
                           {{"first"}, false, 1, 1}}) {
    ParameterStore store;
    Parameter& first = store.add({{"first", {kWidth, kInputs}, 0}});
    Parameter& second = store.add({{"second", {kOutputs, kWidth}, 0}});
    store.freeze([&](std::string_view name) { return std::ranges::count(test.frozen, name) > 0; });
    store.allocate();
    for (Parameter* parameter : {&first, &second}) parameter->master.fill_zero();
    const auto kept = [&](std::int64_t tokens) {
      Tape tape;
      Context ctx;
      ctx.tape = &tape;
      const std::size_t before = cpu::pool_stats().in_use_bytes;
      const Var y = feed_forward(ctx, Var(Tensor::zeros({tokens, kInputs}, DType::f32), test.x_needs_grad),
                                 {&first, nullptr}, Activation::gelu, {&second, nullptr});
      const std::size_t of_y = static_cast<std::size_t>(tokens * kOutputs) * sizeof(float);
      return static_cast<double>(cpu::pool_stats().in_use_bytes - before - of_y) /
             static_cast<double>(tokens * kWidth * std::int64_t{sizeof(float)});
    };
    kept(1200);  // scratch that stays
    EXPECT_NEAR(kept(1000), test.with_few, 0.05) << testing::PrintToString(test.frozen);
    EXPECT_NEAR(kept(1200), test.with_many, 0.05) << testing::PrintToString(test.frozen);
  }
}

class FeedForwardWithFrozenLayers : public testing::TestWithParam<std::pair<std::int64_t, DType>> {};
INSTANTIATE_TEST_SUITE_P(Sizes, FeedForwardWithFrozenLayers,
                         testing::Values(std::pair{12, DType::f32}, std::pair{1100, DType::bf16}));

TEST_P(FeedForwardWithFrozenLayers, NeedsNoInputOfTheActivationIfOnlyTheSecondLayerTrains) {
  const auto [tokens, type] = GetParam();
  ParameterStore store;
  const std::vector<std::pair<std::string, Shape>> arrays{
      {"first.weight", {320, 32}}, {"first.bias", {320}}, {"second.weight", {7, 320}}, {"second.bias", {7}}};
  std::vector<Parameter*> p;
  for (const auto& [name, shape] : arrays) p.push_back(&store.add({{name, shape, 0}}));
  store.freeze([](std::string_view name) { return name.starts_with("first"); });
  store.allocate();
  for (Parameter* parameter : p) std::fill_n(parameter->master.data<float>(), parameter->master.size(), 0.5f);
  Tape tape;
  Context ctx;
  ctx.tape = &tape;
  ctx.compute = type;
  const Tensor x({tokens, 32}, type);
  kernels::fill(type, x.size(), 0.1f, x.raw());
  const Var y = feed_forward(ctx, Var(x), {p[0], p[1]}, Activation::gelu, {p[2], p[3]});
  Tensor dy(y.value().shape(), type);
  kernels::fill(type, dy.size(), 1.0f, dy.raw());
  tape.backward_from(y, dy);
  EXPECT_FALSE(p[0]->grad.defined());
  EXPECT_EQ(p[3]->grad.data<float>()[0], tokens);
  EXPECT_GT(p[2]->grad.data<float>()[0], 0);
}

TEST(FeedForward, RefusesLayersThatDoNotFit) {
  OpCase test = feed_forward_case(Activation::gelu, true);
  test.parameters[1].shape = {7, 18};
  EXPECT_THROW(run(test), Error);
}

}  // namespace
}  // namespace hearth::ops
