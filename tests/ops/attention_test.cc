#include "hearth/ops/attention.h"

#include <gtest/gtest.h>

#include "hearth/base/error.h"
#include "hearth/ops/layer_norm.h"
#include "hearth/ops/linear.h"
#include "tests/ops/op_case.h"

namespace hearth::ops {
namespace {

constexpr std::uint32_t kSite = 9;

OpCase attention_case(std::int64_t heads, std::int64_t head_dim, float p) {
  OpCase test;
  const std::int64_t hidden = heads * head_dim;
  test.inputs = {{"qkv", {test.packed.tokens(), 3 * hidden}}};
  test.op = [=](Context& ctx, auto x, auto) { return attention(ctx, x[0], heads, p, kSite); };
  test.formula = [=](const Context& ctx, auto a) {
    return formula::attention(ctx.sequences, ctx.dropout(p, kSite), a[0], static_cast<std::size_t>(hidden),
                              static_cast<std::size_t>(heads));
  };
  return test;
}

TEST(Attention, HasItsDerivative) {
  expect_derivative(attention_case(2, 16, 0));
  expect_derivative(attention_case(3, 5, 0));
}

TEST(Attention, HasItsDerivativeUnderDropout) { expect_derivative(attention_case(1, 64, 0.25f)); }

TEST(Attention, IsCloseInNarrowFormats) {
  expect_close_in_narrow_formats(attention_case(2, 16, 0), 4);
  expect_close_in_narrow_formats(attention_case(1, 64, 0.25f), 4);
}

TEST(Attention, PaddedKeysReceiveNoGradientButPaddedQueriesGiveSome) {
  OpCase test = attention_case(2, 8, 0);
  test.packed = Packed({4}, {3});
  test.inputs[0].shape = {4, 48};
  const std::vector<float> dqkv = run(test).grads[0];
  for (std::size_t c = 0; c < 48; ++c) EXPECT_EQ(dqkv[3 * 48 + c] != 0, c < 16) << c;
}

TEST(Attention, AddsItsGradientToWhatTheOtherUsesGave) {
  OpCase test;
  test.packed = Packed({3, 2});
  test.inputs = {{"qkv", {5, 24}}};
  test.parameters = {{"weight", {8, 8}, 0.5f}, {"gamma", {8}, 0.3f, 1}, {"beta", {8}}};
  test.op = [](Context& ctx, auto x, auto p) {
    const Var mixed = attention(ctx, x[0], 2, 0.2f, 1);
    const Var mixed_again = attention(ctx, x[0], 1, 0, 2);
    const Var projected = linear(ctx, mixed, *p[0], nullptr);
    return layer_norm(ctx, projected, mixed_again, *p[1], *p[2], 1e-5f, 0, 0);
  };
  test.formula = [](const Context& ctx, auto a) {
    const formula::Numbers mixed = formula::attention(ctx.sequences, ctx.dropout(0.2f, 1), a[0], 8, 2);
    const formula::Numbers mixed_again = formula::attention(ctx.sequences, {}, a[0], 8, 1);
    return formula::layer_norm(formula::sum(formula::linear(mixed, a[1], 8, {}), mixed_again), a[2], a[3], 1e-5);
  };
  expect_derivative(test);
}

TEST(Attention, RefusesRowsThatDoNotDivideIntoHeads) {
  const Packed packed({2});
  Context ctx;
  ctx.sequences = packed.view();
  const Var qkv(Tensor::zeros({2, 24}, DType::f32));
  EXPECT_THROW(attention(ctx, qkv, 3, 0, 0), Error);
}

}  // namespace
}  // namespace hearth::ops
