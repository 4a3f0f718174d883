#include <gtest/gtest.h>

#include <array>

#include "hearth/ops/attention.h"
#include "hearth/ops/dropout.h"
#include "hearth/ops/elementwise.h"
#include "hearth/ops/embedding.h"
#include "hearth/ops/layer_norm.h"
#include "hearth/ops/linear.h"
#include "hearth/ops/loss.h"
#include "hearth/ops/matmul.h"
#include "hearth/ops/reductions.h"
#include "hearth/ops/rows.h"
#include "hearth/ops/softmax.h"
#include "tests/ops/op_case.h"

namespace hearth::ops {
namespace {

constexpr std::int64_t kHidden = 96, kWide = 272, kWords = 50;

// Several tiles and chunks of everything: T = 700.
OpCase large_case(bool span) {
  OpCase test;
  test.packed = Packed({300, 130, 270}, {300, 100, 270});
  std::vector<std::int32_t> ids;
  for (int token = 0; token < 700; ++token) ids.push_back(token * token % kWords);
  test.parameters = {{"table", {kWords, kHidden}}, {"gamma", {kHidden}, 0.3f, 1},
                     {"beta", {kHidden}},          {"qkv", {3 * kHidden, kHidden}, 0.1f},
                     {"qkv bias", {3 * kHidden}},  {"widening", {kWide, kHidden}, 0.1f},
                     {"widening bias", {kWide}},   {"narrowing", {kHidden, kWide}, 0.1f},
                     {"head", {2, kHidden}, 0.1f}, {"head bias", {2}}};
  test.op = [=](Context& ctx, auto, auto p) {
    const Var embedded = embedding_sum(ctx, {{p[0], ids, 0}});
    const Var kept = dropout(ctx, embedded, 0.1f, 1);
    const Var qkv = linear(ctx, kept, *p[3], p[4]);
    const Var mixed = attention(ctx, qkv, 3, 0.1f, 2);
    const Var widened = linear(ctx, mixed, *p[5], p[6], kernels::Activation::gelu);
    const Var narrowed = linear(ctx, widened, *p[7], nullptr);
    const Var normed = layer_norm(ctx, narrowed, kept, *p[1], *p[2], 1e-5f, 0.1f, 3);
    if (span) {
      const Var logits = linear(ctx, normed, *p[8], p[9], kernels::Activation::none, DType::f32);
      return span_loss(ctx, logits, {{3, 129, 7}}, {{299, 130, 8}});
    }
    const Var first = first_tokens(ctx, normed);
    const Var logits = linear(ctx, first, *p[8], p[9], kernels::Activation::none, DType::f32);
    return cross_entropy(ctx, logits, {{1, 0, -100}}, {.label_smoothing = 0.1f});
  };
  return test;
}

TEST(Threads, GiveTheSameBitsForAnyNumber) {
  for (const bool span : {false, true})
    for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
      SCOPED_TRACE(name_of(type));
      OpCase test = large_case(span);
      test.input_type = type;
      expect_same_for_any_threads(test);
    }
}

// The ops of an own model or loss.
TEST(Threads, GiveTheSameBitsInOwnModels) {
  OpCase test;
  test.packed = Packed({300, 130, 270}, {300, 100, 270});
  test.inputs = {{"x", {700, kHidden}}, {"y", {700, kHidden}}};
  test.op = [](Context& ctx, auto x, auto) {
    const Var difference = subtract(ctx, x[0], x[1]);
    const Var weights = softmax(ctx, difference);
    const Var activated = activation(ctx, x[0], kernels::Activation::gelu);
    const Var gated = multiply(ctx, activated, weights);
    const Var logarithms = log_softmax(ctx, x[1]);
    const Var both = add(ctx, gated, logarithms);
    const Var mixed = scale(ctx, both, 0.01f);
    const Var pooled = mean_tokens(ctx, mixed);                              // (3, H)
    const Var scores = matmul(ctx, mixed, pooled, {.transpose_b = true});    // (700, 3)
    const Var squares = matmul(ctx, scores, scores, {.transpose_a = true});  // (3, 3)
    const Var total = sum(ctx, squares);
    const Var average = mean(ctx, mixed);
    return add(ctx, total, average);
  };
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    SCOPED_TRACE(name_of(type));
    test.input_type = type;
    expect_same_for_any_threads(test);
  }
}

TEST(Threads, AndTheStepAndTheSeedGiveOthers) {
  OpCase test = large_case(true);
  const Outcome before = run(test);
  EXPECT_TRUE(run(test) == before);
  const auto op = test.op;
  test.op = [=](Context& ctx, auto x, auto p) { return ctx.step = 4, op(ctx, x, p); };
  EXPECT_FALSE(run(test) == before);
  test.op = [=](Context& ctx, auto x, auto p) { return ctx.seed = 43, op(ctx, x, p); };
  EXPECT_FALSE(run(test) == before);
}

}  // namespace
}  // namespace hearth::ops
