#include "hearth/ops/loss.h"

#include <gtest/gtest.h>

#include <array>

#include "hearth/ops/linear.h"
#include "tests/ops/op_case.h"

namespace hearth::ops {
namespace {

constexpr std::int64_t kIgnored = -100;
const std::vector<std::int64_t> kLabels{2, 0, kIgnored, 4, 3, kIgnored, 1};

OpCase cross_entropy_case(double smoothing) {
  OpCase test;
  test.inputs = {{"logits", {7, 5}, 2}};
  test.op = [=](Context& ctx, auto x, auto) {
    return cross_entropy(ctx, x[0], kLabels, kIgnored, static_cast<float>(smoothing));
  };
  test.formula = [=](const Context&, auto a) {
    Dual loss;
    for (std::size_t row = 0; row < kLabels.size(); ++row) {
      if (kLabels[row] == kIgnored) continue;
      const std::span<const Dual> logits(a[0].data() + row * 5, 5);
      loss += (1 - smoothing) * formula::negative_log_likelihood(logits, static_cast<std::size_t>(kLabels[row])) / 5;
      for (std::size_t c = 0; c < 5; ++c) loss += smoothing / 5 * formula::negative_log_likelihood(logits, c) / 5;
    }
    return formula::Numbers{loss};
  };
  return test;
}

TEST(CrossEntropy, HasItsDerivative) {
  expect_derivative(cross_entropy_case(0));
  expect_derivative(cross_entropy_case(0.1f));
}

TEST(CrossEntropy, GoesThroughALayer) {
  OpCase test;
  test.inputs = {{"x", {7, 6}}};
  test.parameters = {{"weight", {5, 6}}, {"bias", {5}}};
  const OpCase loss = cross_entropy_case(0.1f);
  test.op = [=](Context& ctx, auto x, auto p) {
    const std::array<Var, 1> logits{linear(ctx, x[0], *p[0], p[1], kernels::Activation::none, DType::f32)};
    return loss.op(ctx, logits, {});
  };
  test.formula = [=](const Context& ctx, auto a) {
    const std::array<formula::Numbers, 1> logits{formula::linear(a[0], a[1], 6, a[2])};
    return loss.formula(ctx, logits);
  };
  expect_derivative(test);
  expect_close_in_narrow_formats(test, 3);
}

TEST(CrossEntropy, RefusesALabelThatIsNoClass) {
  Context ctx;
  const Var logits(Tensor::zeros({1, 5}, DType::f32));
  for (const std::int64_t label : {std::int64_t{5}, std::int64_t{-1}})
    EXPECT_THROW(cross_entropy(ctx, logits, {{label}}, kIgnored, 0), Error) << label;
  EXPECT_THROW(cross_entropy(ctx, logits, {{1, 2}}, kIgnored, 0), Error);
}

// The term of one of the two positions, as transformers counts it; none where all positions lie past their sequences.
Dual position_loss(const kernels::Sequences& sequences, const formula::Numbers& logits, std::size_t column,
                   const std::vector<std::int64_t>& positions) {
  Dual sum;
  double counted = 0;
  for (std::size_t s = 0; s < positions.size(); ++s) {
    formula::Numbers own;
    for (std::int64_t token = sequences.starts[s]; token < sequences.starts[s + 1]; ++token)
      own.push_back(logits[static_cast<std::size_t>(token) * 2 + column]);
    const auto position = static_cast<std::size_t>(std::max<std::int64_t>(0, positions[s]));
    if (position >= own.size()) continue;
    sum += formula::negative_log_likelihood(own, position);
    ++counted;
  }
  return sum / counted;
}

OpCase span_loss_case(std::vector<std::int64_t> starts, std::vector<std::int64_t> ends) {
  OpCase test;
  test.inputs = {{"logits", {12, 2}, 2}};
  test.op = [=](Context& ctx, auto x, auto) { return span_loss(ctx, x[0], starts, ends); };
  test.formula = [=](const Context& ctx, auto a) {
    return formula::Numbers{
        (position_loss(ctx.sequences, a[0], 0, starts) + position_loss(ctx.sequences, a[0], 1, ends)) / 2};
  };
  return test;
}

TEST(SpanLoss, HasItsDerivative) { expect_derivative(span_loss_case({1, 0, 2}, {4, 2, 2})); }

TEST(SpanLoss, HasItsDerivativeWherePositionsLieOutside) {
  expect_derivative(span_loss_case({5, 0, 2}, {4, -1, 2}));
  expect_derivative(span_loss_case({1, 3, 900}, {5, 1, 4}));
}

TEST(SpanLoss, RefusesPositionsOfOtherThanItsSequences) {
  Context ctx;
  const Packed packed({2, 3});
  ctx.sequences = packed.view();
  const Var logits(Tensor::zeros({5, 2}, DType::f32));
  EXPECT_THROW(span_loss(ctx, logits, {{0}}, {{0}}), Error);
}

}  // namespace
}  // namespace hearth::ops
