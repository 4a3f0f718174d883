#include "hearth/ops/rows.h"

#include <gtest/gtest.h>

#include "hearth/ops/dropout.h"
#include "hearth/ops/elementwise.h"
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

TEST(TakeRows, HasItsDerivative) {
  OpCase test;
  const std::vector<std::int64_t> rows{3, 0, 11, 3};
  test.inputs = {{"x", {12, 9}}};
  test.op = [=](Context& ctx, auto x, auto) {
    const Var once = take_rows(ctx, x[0], rows), twice = take_rows(ctx, x[0], rows);
    return add(ctx, once, twice);
  };
  test.formula = [=](const Context&, auto a) {
    const formula::Numbers y = formula::rows_of(a[0], 9, std::vector<std::int32_t>(rows.begin(), rows.end()));
    return formula::sum(y, y);
  };
  expect_derivative(test);
}

// Neither a row per token nor one per sequence.
TEST(TakeRows, GivesRowsThatLayersRead) {
  OpCase test;
  test.inputs = {{"x", {12, 6}}};
  test.parameters = {{"weight", {6, 6}}, {"gamma", {6}, 0.3f, 1}, {"beta", {6}}};
  const std::vector<std::int64_t> rows{2, 7};
  test.op = [=](Context& ctx, auto x, auto p) {
    const Var taken = take_rows(ctx, x[0], rows);
    const Var mixed = linear(ctx, taken, *p[0], nullptr);
    return layer_norm(ctx, mixed, *p[1], *p[2], 1e-5f);
  };
  test.formula = [](const Context&, auto a) {
    return formula::layer_norm(formula::linear(formula::rows_of(a[0], 6, std::vector<std::int32_t>{2, 7}), a[1], 6, {}),
                               a[2], a[3], 1e-5);
  };
  expect_derivative(test);
}

OpCase mean_tokens_case() {
  OpCase test;
  test.inputs = {{"x", {12, 9}}};
  test.op = [](Context& ctx, auto x, auto) { return mean_tokens(ctx, x[0]); };
  test.formula = [](const Context& ctx, auto a) {
    formula::Numbers y(9 * static_cast<std::size_t>(ctx.sequences.count()));
    formula::for_each_token(ctx.sequences, [&](std::size_t s, std::uint32_t position, std::size_t token) {
      const auto keys = static_cast<std::uint32_t>(ctx.sequences.key_counts[s]);
      for (std::size_t c = 0; c < 9 && position < keys; ++c)
        y[s * 9 + c] += a[0][token * 9 + c] / static_cast<double>(keys);
    });
    return y;
  };
  return test;
}

TEST(MeanTokens, HasItsDerivative) {
  expect_derivative(mean_tokens_case());
  expect_close_in_narrow_formats(mean_tokens_case(), 2);
}

TEST(MeanTokens, AddsItsGradientToWhatTheOtherUsesGave) {
  OpCase test = mean_tokens_case();
  const auto once = test.formula;
  test.op = [](Context& ctx, auto x, auto) {
    const Var mean = mean_tokens(ctx, x[0]), mean_again = mean_tokens(ctx, x[0]);
    return add(ctx, mean, mean_again);
  };
  test.formula = [=](const Context& ctx, auto a) {
    const formula::Numbers y = once(ctx, a);
    return formula::sum(y, y);
  };
  expect_derivative(test);
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

// One row per sequence: as dropout of a batch in which each sequence is one token.
TEST(Dropout, MayHaveARowPerSequence) {
  Batch batch;
  const std::vector<std::int32_t> ids{1, 2, 3}, types(3);
  for (const std::uint32_t sample : {4u, 2u}) batch.append(ids, types, sample);
  Context ctx;
  ctx.training = true;
  const BatchPtr shared = shared_batch(batch);
  ctx.begin(shared);
  const Var x(tensor_of(random_numbers(2 * 40, 1), {2, 40}));
  const std::vector<float> dropped = numbers_of(dropout(ctx, x, 0.3f, 5).value());
  for (std::uint32_t i = 0; i < 80; ++i)
    EXPECT_EQ(dropped[i] != 0, dropout_keeps(ctx.dropout(0.3f, 5), batch.samples[i / 40], 0, i % 40)) << i;
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
