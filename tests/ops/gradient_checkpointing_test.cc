#include "hearth/ops/gradient_checkpointing.h"

#include <gtest/gtest.h>

#include "hearth/ops/attention.h"
#include "hearth/ops/dropout.h"
#include "hearth/ops/layer_norm.h"
#include "hearth/ops/linear.h"
#include "tests/ops/op_case.h"

namespace hearth::ops {
namespace {

// The heart of an encoder layer, of one head.
Var block(Context& ctx, const Var& x, std::span<Parameter* const> p, std::uint32_t site) {
  const Var qkv = linear(ctx, x, *p[0], p[1]);
  const Var mixed = attention(ctx, qkv, 1, 0.2f, site);
  const Var widened = linear(ctx, mixed, *p[2], nullptr, kernels::Activation::gelu);
  return layer_norm(ctx, widened, x, *p[3], *p[4], 1e-5f, 0.2f, site + 1);
}

OpCase two_blocks(std::int64_t hidden, bool checkpoints) {
  OpCase test;
  test.inputs = {{"x", {test.packed.tokens(), hidden}}};
  test.parameters = {{"qkv", {3 * hidden, hidden}, 0.4f},
                     {"qkv bias", {3 * hidden}},
                     {"weight", {hidden, hidden}, 0.4f},
                     {"gamma", {hidden}, 0.3f, 1},
                     {"beta", {hidden}}};
  test.op = [=](Context& ctx, auto x, auto p) {
    const auto layer = [&](const Var& input, std::uint32_t site) {
      if (!checkpoints) return block(ctx, input, p, site);
      const std::vector<Parameter*> kept(p.begin(), p.end());
      return checkpointed(ctx, input, [=](Context& inner, const Var& y) { return block(inner, y, kept, site); });
    };
    const Var middle = layer(x[0], 10);
    return layer(middle, 20);
  };
  const auto width = static_cast<std::size_t>(hidden);
  test.formula = [=](const Context& ctx, auto a) {
    const auto layer = [&](const formula::Numbers& x, std::uint32_t site) {
      const formula::Numbers qkv = formula::linear(x, a[1], width, a[2]);
      const formula::Numbers mixed = formula::attention(ctx.sequences, ctx.dropout(0.2f, site), qkv, width, 1);
      const formula::Numbers widened = formula::linear(mixed, a[3], width, {}, kernels::Activation::gelu);
      const formula::Numbers kept = formula::dropout(ctx.sequences, ctx.dropout(0.2f, site + 1), widened, width);
      return formula::layer_norm(formula::sum(kept, x), a[4], a[5], 1e-5);
    };
    return layer(layer(a[0], 10), 20);
  };
  return test;
}

TEST(Checkpointed, HasTheDerivativeOfItsBody) { expect_derivative(two_blocks(6, true)); }

TEST(Checkpointed, HasTheBitsOfItsBody) {
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    OpCase plain = two_blocks(32, false), checkpoints = two_blocks(32, true);
    plain.input_type = checkpoints.input_type = type;
    EXPECT_TRUE(run(plain) == run(checkpoints)) << name_of(type);
  }
}

TEST(Checkpointed, IsCloseInNarrowFormats) { expect_close_in_narrow_formats(two_blocks(32, true), 30); }

TEST(Checkpointed, ReportsParametersOnceInReverseOrderOfUse) {
  OpCase test = two_blocks(8, true);
  ParameterStore store;
  std::vector<Parameter*> parameters;
  for (const Array& array : test.parameters) parameters.push_back(&store.add({{array.name, array.shape, 0}}));
  store.allocate();
  Tape tape;
  Context ctx = test.context();
  ctx.tape = &tape;
  const std::vector<Var> inputs{Var(tensor_of(test.numbers(0), test.inputs[0].shape), true)};
  const Var y = test.op(ctx, inputs, parameters);
  std::vector<Parameter*> ready;
  tape.backward_from(y, tensor_of(output_weights(y.value().size()), y.value().shape()),
                     [&](Parameter& parameter) { ready.push_back(&parameter); });
  EXPECT_EQ(ready, std::vector<Parameter*>(parameters.rbegin(), parameters.rend()));
}

TEST(Checkpointed, MayIgnoreItsInput) {
  ParameterStore store;
  Parameter& weight = store.add({{"weight", {2, 2}, 0}});
  store.allocate();
  Tape tape;
  Context ctx;
  ctx.tape = &tape;
  const Var x(tensor_of({1, 2}, {1, 2}), true), other(tensor_of({3, 4}, {1, 2}));
  const Var y = checkpointed(ctx, x, [&](Context& inner, const Var&) { return linear(inner, other, weight, nullptr); });
  x.grad() = tensor_of({5, 6}, {1, 2});
  tape.backward_from(y, tensor_of({1, 1}, {1, 2}));
  EXPECT_EQ(numbers_of(weight.grad), (std::vector<float>{3, 4, 3, 4}));
  EXPECT_EQ(numbers_of(x.grad()), (std::vector<float>{5, 6}));
}

}  // namespace
}  // namespace hearth::ops
