#include "hearth/ops/loss.h"

#include <gtest/gtest.h>

#include <array>

#include "hearth/base/error.h"
#include "hearth/ops/linear.h"
#include "tests/ops/op_case.h"

namespace hearth::ops {
namespace {

constexpr std::int64_t kIgnored = -100;
const std::vector<std::int64_t> kLabels{2, 0, kIgnored, 4, 3, kIgnored, 1};

const std::vector<float> kWeights{0.5, 2, 0, 1.25, 3};
constexpr std::size_t kClasses = 5;

double weight_of(std::span<const float> weights, std::size_t index) { return weights.empty() ? 1 : weights[index]; }

Dual row_loss(std::span<const Dual> logits, std::size_t label, const CrossEntropyOptions& options) {
  const Dual likelihood = formula::negative_log_likelihood(logits, label);
  Dual loss = (1 - options.label_smoothing) * weight_of(options.class_weights, label) *
              formula::focal(likelihood, exp(-likelihood), options.focal_gamma);
  for (std::size_t c = 0; c < kClasses; ++c)
    loss += options.label_smoothing / kClasses * weight_of(options.class_weights, c) *
            formula::negative_log_likelihood(logits, c);
  return loss;
}

OpCase cross_entropy_case(const CrossEntropyOptions& options) {
  OpCase test;
  test.inputs = {{"logits", {7, kClasses}, 2}};
  test.op = [=](Context& ctx, auto x, auto) { return cross_entropy(ctx, x[0], kLabels, options); };
  test.formula = [=](const Context&, auto a) {
    Dual loss;
    double weights = 0;
    for (std::size_t row = 0; row < kLabels.size(); ++row) {
      if (kLabels[row] == kIgnored) continue;
      const auto label = static_cast<std::size_t>(kLabels[row]);
      loss += row_loss({a[0].data() + row * kClasses, kClasses}, label, options);
      weights += weight_of(options.class_weights, label);
    }
    return formula::Numbers{loss / weights};
  };
  return test;
}

TEST(CrossEntropy, HasItsDerivative) {
  expect_derivative(cross_entropy_case({}));
  expect_derivative(cross_entropy_case({.label_smoothing = 0.1f}));
}

TEST(CrossEntropy, HasItsDerivativeWithClassWeights) {
  expect_derivative(cross_entropy_case({.class_weights = kWeights}));
  expect_derivative(cross_entropy_case({.label_smoothing = 0.1f, .class_weights = kWeights}));
}

TEST(CrossEntropy, HasItsDerivativeWithFocalGamma) {
  for (const float gamma : {0.5f, 1.0f, 2.0f}) {
    expect_derivative(cross_entropy_case({.focal_gamma = gamma}));
    expect_derivative(cross_entropy_case({.class_weights = kWeights, .focal_gamma = gamma}));
  }
}

TEST(CrossEntropy, GoesThroughALayer) {
  OpCase test;
  test.inputs = {{"x", {7, 6}}};
  test.parameters = {{"weight", {5, 6}}, {"bias", {5}}};
  const OpCase loss = cross_entropy_case({.label_smoothing = 0.1f});
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
    EXPECT_THROW(cross_entropy(ctx, logits, {{label}}), Error) << label;
  EXPECT_THROW(cross_entropy(ctx, logits, {{1, 2}}), Error);
}

TEST(CrossEntropy, RefusesOptionsThatDoNotFit) {
  Context ctx;
  const Var logits(Tensor::zeros({1, 5}, DType::f32));
  const std::vector<float> four(4, 1.0f), negative{1, 1, -1, 1, 1}, infinite(5, INFINITY);
  for (const auto& weights : {four, negative, infinite})
    EXPECT_THROW(cross_entropy(ctx, logits, {{1}}, {.class_weights = weights}), Error);
  EXPECT_THROW(cross_entropy(ctx, logits, {{1}}, {.focal_gamma = -1}), Error);
  EXPECT_THROW(cross_entropy(ctx, logits, {{1}}, {.label_smoothing = 0.1f, .focal_gamma = 2}), Error);
}

const std::vector<float> kTargets{1, 0, 0, 1, 0.25, 0, 1, 1, 0, 0.75};

OpCase binary_cross_entropy_case(const BinaryCrossEntropyOptions& options) {
  OpCase test;
  test.inputs = {{"logits", {2, kClasses}, 2}};
  test.op = [=](Context& ctx, auto x, auto) { return binary_cross_entropy(ctx, x[0], kTargets, options); };
  test.formula = [=](const Context&, auto a) {
    Dual loss;
    for (std::size_t i = 0; i < kTargets.size(); ++i) {
      const double target = kTargets[i], weight = weight_of(options.class_weights, i % kClasses);
      const Dual p = 1 / (1 + exp(-a[0][i]));
      const Dual cell = -(weight * target * log(p) + (1 - target) * log(1 - p));
      loss += formula::focal(cell, p * target + (1 - p) * (1 - target), options.focal_gamma);
    }
    return formula::Numbers{loss / static_cast<double>(kTargets.size())};
  };
  return test;
}

TEST(BinaryCrossEntropy, HasItsDerivative) {
  for (const float gamma : {0.0f, 0.5f, 1.0f, 2.0f}) {
    expect_derivative(binary_cross_entropy_case({.focal_gamma = gamma}));
    expect_derivative(binary_cross_entropy_case({.class_weights = kWeights, .focal_gamma = gamma}));
  }
}

TEST(BinaryCrossEntropy, RefusesTargetsAndOptionsThatDoNotFit) {
  Context ctx;
  const Var logits(Tensor::zeros({1, 2}, DType::f32));
  EXPECT_THROW(binary_cross_entropy(ctx, logits, {{1}}), Error);
  EXPECT_THROW(binary_cross_entropy(ctx, logits, {{1, 1.5f}}), Error);
  EXPECT_THROW(binary_cross_entropy(ctx, logits, {{-0.5f, 1}}), Error);
  EXPECT_THROW(binary_cross_entropy(ctx, logits, {{0, 1}}, {.class_weights = kWeights}), Error);
  EXPECT_THROW(binary_cross_entropy(ctx, logits, {{0, 1}}, {.focal_gamma = -1}), Error);
}

TEST(MeanSquaredError, HasItsDerivative) {
  OpCase test;
  test.inputs = {{"logits", {2, kClasses}, 2}};
  test.op = [](Context& ctx, auto x, auto) { return mean_squared_error(ctx, x[0], kTargets); };
  test.formula = [](const Context&, auto a) {
    Dual loss;
    for (std::size_t i = 0; i < kTargets.size(); ++i) loss += (a[0][i] - kTargets[i]) * (a[0][i] - kTargets[i]);
    return formula::Numbers{loss / static_cast<double>(kTargets.size())};
  };
  expect_derivative(test);
}

TEST(MeanSquaredError, RefusesTargetsThatDoNotFit) {
  Context ctx;
  const Var logits(Tensor::zeros({1, 2}, DType::f32));
  EXPECT_THROW(mean_squared_error(ctx, logits, {{1}}), Error);
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
