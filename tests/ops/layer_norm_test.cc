#include "hearth/ops/layer_norm.h"

#include <gtest/gtest.h>

#include "hearth/cpu/memory.h"
#include "hearth/ops/elementwise.h"
#include "hearth/ops/linear.h"
#include "hearth/ops/softmax.h"
#include "tests/ops/op_case.h"

namespace hearth::ops {
namespace {

constexpr std::uint32_t kSite = 4;

OpCase layer_norm_case(bool has_residual, float p) {
  OpCase test;
  test.inputs = {{"x", {12, 18}}};
  if (has_residual) test.inputs.push_back({"residual", {12, 18}});
  test.parameters = {{"gamma", {18}, 0.3f, 1}, {"beta", {18}}};
  test.op = [=](Context& ctx, auto x, auto g) {
    return layer_norm(ctx, x[0], has_residual ? x[1] : Var(), *g[0], *g[1], 1e-5f, p, kSite);
  };
  test.formula = [=](const Context& ctx, auto a) {
    formula::Numbers z = formula::dropout(ctx.sequences, ctx.dropout(p, kSite), a[0], 18);
    if (has_residual) z = formula::sum(z, a[1]);
    return formula::layer_norm(z, a[a.size() - 2], a[a.size() - 1], 1e-5);
  };
  return test;
}

TEST(LayerNorm, HasItsDerivative) {
  expect_derivative(layer_norm_case(false, 0));
  expect_derivative(layer_norm_case(true, 0));
}

TEST(LayerNorm, HasItsDerivativeUnderDropout) { expect_derivative(layer_norm_case(true, 0.3f)); }

TEST(LayerNorm, IsCloseInNarrowFormats) {
  expect_close_in_narrow_formats(layer_norm_case(false, 0), 3);
  expect_close_in_narrow_formats(layer_norm_case(true, 0.3f), 3);
}

// Values that are read again, by the user or by the backward of the op that made them, stay as they are.
TEST(LayerNorm, LeavesItsInputAsItIs) {
  OpCase test;
  test.inputs = {{"x", {12, 18}}, {"residual", {12, 18}}};
  test.parameters = {{"gamma", {18}, 0.3f, 1}, {"beta", {18}}};
  test.op = [](Context& ctx, auto x, auto g) {
    const Var a = scale(ctx, x[0], 2);
    const Var normed = layer_norm(ctx, a, x[1], *g[0], *g[1], 1e-5f, 0.3f, kSite);
    const Var twice = multiply(ctx, a, normed);
    Var moved = softmax(ctx, twice);  // its backward reads its output
    return layer_norm(ctx, std::move(moved), x[1], *g[0], *g[1], 1e-5f, 0.3f, kSite);
  };
  test.formula = [](const Context& ctx, auto a) {
    const auto norm = [&](const formula::Numbers& x) {
      const formula::Numbers kept = formula::dropout(ctx.sequences, ctx.dropout(0.3f, kSite), x, 18);
      return formula::layer_norm(formula::sum(kept, a[1]), a[2], a[3], 1e-5);
    };
    formula::Numbers doubled = formula::sum(a[0], a[0]), product = norm(doubled), softmaxed;
    for (std::size_t i = 0; i < product.size(); ++i) product[i] = product[i] * doubled[i];
    for (std::size_t i = 0; i < product.size(); ++i)
      softmaxed.push_back(exp(-formula::negative_log_likelihood(std::span(product).subspan(i / 18 * 18, 18), i % 18)));
    return norm(softmaxed);
  };
  expect_derivative(test);
}

// The sum takes the place of an input that is given away, unless the backward of the op that made the input reads it:
// the one of softmax above does, the one of an activation here does not.
TEST(LayerNorm, MayTakeThePlaceOfItsInput) {
  OpCase test;
  test.inputs = {{"x", {12, 18}}, {"residual", {12, 18}}};
  test.parameters = {{"gamma", {18}, 0.3f, 1}, {"beta", {18}}};
  test.op = [](Context& ctx, auto x, auto g) {
    Var activated = activation(ctx, x[0], kernels::Activation::tanh);
    EXPECT_TRUE(activated.is_last_holder());
    return layer_norm(ctx, std::move(activated), x[1], *g[0], *g[1], 1e-5f, 0.3f, kSite);
  };
  test.formula = [](const Context& ctx, auto a) {
    formula::Numbers activated;
    for (const Dual& x : a[0]) activated.push_back(tanh(x));
    const formula::Numbers kept = formula::dropout(ctx.sequences, ctx.dropout(0.3f, kSite), activated, 18);
    return formula::layer_norm(formula::sum(kept, a[1]), a[2], a[3], 1e-5);
  };
  expect_derivative(test);
}

TEST(LayerNorm, TakesMemoryForItsSumUnlessItsInputIsGivenAway) {
  ParameterStore store;
  Parameter &weight = store.add({{"weight", {64, 64}, 0}}), &gamma = store.add({{"gamma", {64}, 0}}),
            &beta = store.add({{"beta", {64}, 0}});
  store.allocate();
  store.master().fill_zero();
  const Packed packed({100});
  const auto kept = [&](bool moves) {
    Tape tape;
    Context ctx;
    ctx.tape = &tape;
    ctx.sequences = packed.view();
    const Var residual(Tensor::zeros({100, 64}, DType::f32));
    const std::size_t before = cpu::pool_stats().in_use_bytes;
    Var x = linear(ctx, residual, weight, nullptr);
    const Var y = moves ? layer_norm(ctx, std::move(x), residual, gamma, beta, 1e-5f, 0, 0)
                        : layer_norm(ctx, x, residual, gamma, beta, 1e-5f, 0, 0);
    return cpu::pool_stats().in_use_bytes - before;
  };
  kept(true);  // scratch that stays
  EXPECT_GE(kept(false), kept(true) + 100 * 64 * sizeof(float));
}

// Both norms have one residual, which is the input of a layer, too, and share their parameters.
TEST(LayerNorm, AddsItsGradientsToWhatTheOtherUsesGave) {
  OpCase test;
  test.inputs = {{"x", {12, 10}}};
  test.parameters = {{"weight", {10, 10}, 0.4f}, {"gamma", {10}, 0.3f, 1}, {"beta", {10}}};
  test.op = [](Context& ctx, auto x, auto p) {
    const Var first = linear(ctx, x[0], *p[0], nullptr);
    const Var middle = layer_norm(ctx, first, x[0], *p[1], *p[2], 1e-5f, 0.2f, 1);
    const Var second = linear(ctx, middle, *p[0], nullptr);
    return layer_norm(ctx, second, x[0], *p[1], *p[2], 1e-5f, 0.2f, 2);
  };
  test.formula = [](const Context& ctx, auto a) {
    const auto block = [&](const formula::Numbers& x, std::uint32_t site) {
      const formula::Numbers y = formula::linear(x, a[1], 10, {});
      const formula::Numbers kept = formula::dropout(ctx.sequences, ctx.dropout(0.2f, site), y, 10);
      return formula::layer_norm(formula::sum(kept, a[0]), a[2], a[3], 1e-5);
    };
    return block(block(a[0], 1), 2);
  };
  expect_derivative(test);
  expect_close_in_narrow_formats(test, 6);
}

}  // namespace
}  // namespace hearth::ops
