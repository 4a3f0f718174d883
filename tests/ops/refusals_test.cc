// What does not fit an op ends in one sentence that names the op and the shapes.
#include <gtest/gtest.h>

#include "hearth/ops/attention.h"
#include "hearth/ops/cast.h"
#include "hearth/ops/dropout.h"
#include "hearth/ops/elementwise.h"
#include "hearth/ops/embedding.h"
#include "hearth/ops/grad.h"
#include "hearth/ops/gradient_checkpointing.h"
#include "hearth/ops/layer_norm.h"
#include "hearth/ops/linear.h"
#include "hearth/ops/loss.h"
#include "hearth/ops/matmul.h"
#include "hearth/ops/reductions.h"
#include "hearth/ops/rows.h"
#include "hearth/ops/softmax.h"
#include "hearth/ops/vocabulary_loss.h"
#include "tests/ops/op_case.h"
#include "tests/support.h"

namespace hearth::ops {
namespace {

// Two sequences of 3 and 2 tokens, and a few parameters.
class Refusals : public testing::Test {
 protected:
  Refusals() {
    for (const auto& [name, shape] :
         {std::pair{"matrix", Shape{6, 4}}, std::pair{"wide", Shape{6, 5}}, std::pair{"vector", Shape{4}},
          std::pair{"long", Shape{5}}, std::pair{"six", Shape{6}}})
      store_.add({{name, shape, 0}});
    store_.allocate();
    store_.master().fill_zero();
    Batch batch;
    for (const std::size_t length : {3u, 2u}) {
      const std::vector<std::int32_t> ids(length);
      batch.append(ids, ids, 0);
    }
    batch_ = shared_batch(std::move(batch));
    ctx_.tape = &tape_;
    ctx_.training = true;
    ctx_.begin(batch_);
  }

  static Var values(Shape shape, DType type = DType::f32) { return Var(Tensor::zeros(shape, type), true); }
  Parameter& parameter(std::size_t index) { return *store_.parameters()[index]; }
  Parameter& matrix() { return parameter(0); }
  Parameter& vector() { return parameter(2); }
  Parameter& longer() { return parameter(3); }

  ParameterStore store_;
  BatchPtr batch_;
  Tape tape_;
  Context ctx_;
};

TEST_F(Refusals, OfShapes) {
  using Ids = std::vector<std::int32_t>;
  const Var x = values({5, 4}), y = values({5, 3}), logits = values({5, 2}), qkv = values({5, 12});
  Parameter& six = parameter(4);
  const auto norm = [&](const Var& a, const Var& residual, Parameter& gamma, Parameter& beta) {
    return layer_norm(ctx_, a, residual, gamma, beta, 1e-5f, 0, 0);
  };
  const std::vector<std::pair<std::string, std::function<void()>>> rows = {
      {"[add] fp32 (5, 4) and fp32 (5, 3) do not fit: shape and dtype must be the same", [&] { add(ctx_, x, y); }},
      {"[subtract] fp32 (5, 4) and fp32 (5, 3) do not fit: shape and dtype must be the same",
       [&] { subtract(ctx_, x, y); }},
      {"[multiply] fp32 (5, 4) and fp32 (5, 3) do not fit: shape and dtype must be the same",
       [&] { multiply(ctx_, x, y); }},
      {"[matmul] fp32 (5, 4) and fp32 (5, 3) do not fit", [&] { matmul(ctx_, x, y); }},
      {"[matmul] fp32 (5, 4) transposed and fp32 (5, 3) transposed do not fit",
       [&] { matmul(ctx_, x, y, {.transpose_a = true, .transpose_b = true}); }},
      {"[matmul] fp32 (5, 4) and fp32 (4) do not fit", [&] { matmul(ctx_, x, values({4})); }},
      {"[mean] the input (0, 4) has no elements",
       [&] {
         mean(ctx_, values({0, 4}));
       }},
      {"[softmax] the input (4, 0) has no elements along a last axis",
       [&] {
         softmax(ctx_, values({4, 0}));
       }},
      {"[log_softmax] the input () has no elements along a last axis", [&] { log_softmax(ctx_, values({})); }},
      {"[mean_tokens] the input (6, 4) does not have a row for each of 5 tokens",
       [&] {
         mean_tokens(ctx_, values({6, 4}));
       }},
      {"[first_tokens] the input (4, 4) does not have a row for each of 5 tokens",
       [&] {
         first_tokens(ctx_, values({4, 4}));
       }},
      {"[take_rows] there is no row 5 in (5, 4)",
       [&] {
         take_rows(ctx_, x, std::vector<std::int64_t>{0, 5});
       }},
      {"[vocabulary_loss] the input (5, 3) does not fit the embeddings (6, 4) and 5 labels",
       [&] { vocabulary_loss(ctx_, y, matrix(), six, std::vector<std::int64_t>(5)); }},
      {"[vocabulary_loss] the label 6 is not one of the 6 tokens",
       [&] { vocabulary_loss(ctx_, x, matrix(), six, std::vector<std::int64_t>(5, 6)); }},
      {"[dropout] the input (3, 4) has neither a row for each of 5 tokens nor one for each of 2 sequences",
       [&] {
         dropout(ctx_, values({3, 4}), 0.5f, 0);
       }},
      {"[layer_norm] the input (3, 4) has neither a row for each of 5 tokens nor one for each of 2 sequences",
       [&] {
         layer_norm(ctx_, values({3, 4}), {}, vector(), vector(), 1e-5f, 0.5f, 0);
       }},
      {"[layer_norm] vector (4) does not fit rows of 3 elements", [&] { norm(y, {}, vector(), vector()); }},
      {"[layer_norm] long (5) does not fit rows of 4 elements", [&] { norm(x, {}, vector(), longer()); }},
      {"[layer_norm] fp32 (5, 4) and fp32 (5, 3) do not fit: shape and dtype must be the same",
       [&] { norm(x, y, vector(), vector()); }},
      {"[attention] the rows of (5, 4) do not hold queries, keys and values of 1 heads",
       [&] { attention(ctx_, x, 1, 0, 0); }},
      {"[attention] the rows of (5, 12) do not hold queries, keys and values of 0 heads",
       [&] { attention(ctx_, qkv, 0, 0, 0); }},
      {"[attention] the rows of (5, 12) do not hold queries, keys and values of 3 heads",
       [&] { attention(ctx_, qkv, 3, 0, 0); }},
      {"[attention] the input (2, 12) does not have a row for each of 5 tokens",
       [&] {
         attention(ctx_, values({2, 12}), 2, 0, 0);
       }},
      {"[linear] the input (5, 3) does not fit the weight matrix (6, 4)", [&] { linear(ctx_, y, matrix(), nullptr); }},
      {"[linear] vector (4) does not fit rows of 6 elements", [&] { linear(ctx_, x, matrix(), &vector()); }},
      {"[linear] vector (4) is not a matrix", [&] { linear(ctx_, x, vector(), nullptr); }},
      {"[embedding_sum] there is nothing to look up", [&] { embedding_sum(ctx_, {}); }},
      {"[embedding_sum] a lookup has no table",
       [&] {
         embedding_sum(ctx_, {{nullptr, {1}}});
       }},
      {"[embedding_sum] vector (4) is not a matrix",
       [&] {
         embedding_sum(ctx_, {{&vector(), {1}}});
       }},
      {"[embedding_sum] id 6 is out of range for matrix, which has 6 rows",
       [&] {
         embedding_sum(ctx_, {{&matrix(), {0, 6}}});
       }},
      {"[embedding_sum] 3 ids of wide (6, 5) do not fit 3 ids of matrix (6, 4)",
       [&] {
         embedding_sum(ctx_, {{&matrix(), Ids(3)}, {&parameter(1), Ids(3)}});
       }},
      {"[embedding_sum] 2 ids of matrix (6, 4) do not fit 3 ids of matrix (6, 4)",
       [&] {
         embedding_sum(ctx_, {{&matrix(), Ids(3)}, {&matrix(), Ids(2)}});
       }},
      {"[cross_entropy] 4 labels for logits (5, 2)",
       [&] {
         cross_entropy(ctx_, logits, {{0, 0, 0, 0}});
       }},
      {"[cross_entropy] the label 2 is not one of the 2 classes",
       [&] {
         cross_entropy(ctx_, logits, {{0, 2, 0, 0, 0}});
       }},
      {"[binary_cross_entropy] 1 targets for logits (5, 2)", [&] { binary_cross_entropy(ctx_, logits, {{1}}); }},
      {"[mean_squared_error] 1 targets for logits (5, 2)", [&] { mean_squared_error(ctx_, logits, {{1}}); }},
      {"[span_loss] the logits (5, 3) do not have two columns, start and end",
       [&] {
         span_loss(ctx_, y, {{0, 0}}, {{0, 0}});
       }},
      {"[span_loss] the input (4, 2) does not have a row for each of 5 tokens",
       [&] {
         span_loss(ctx_, values({4, 2}), {{0, 0}}, {{0, 0}});
       }},
      {"[span_loss] 1 starts and 2 ends for 2 sequences",
       [&] {
         span_loss(ctx_, logits, {{0}}, {{0, 0}});
       }},
      {"[checkpointed] there is no body", [&] { checkpointed(ctx_, x, {}); }},
      {"[add_grad] a gradient fp32 (5, 3) of a value fp32 (5, 4)", [&] { add_grad(x, y.value()); }},
  };
  for (const auto& [sentence, action] : rows) EXPECT_EQ(error_of(action), sentence);
}

TEST_F(Refusals, OfValuesWhoseGradientWouldBeLost) {
  const std::string sentence =
      "[add] another tape recorded an input, or the pass that computed it is over, so its gradient would be lost: run "
      "all passes that a loss depends on with one Tape, or give Var(x.value()) where no gradient is needed";
  const Var x = values({5, 4});
  Tape other_tape;
  Context other = ctx_;
  other.tape = &other_tape;
  const Var of_other = scale(other, x, 2);
  EXPECT_EQ(error_of([&] { add(ctx_, x, of_other); }), sentence);
  EXPECT_FALSE(add(ctx_, Var(x.value()), Var(of_other.value())).needs_grad());
  sum(other, of_other).backward();
  EXPECT_EQ(error_of([&] { add(other, x, of_other); }), sentence);
  Context without_tape = ctx_;
  without_tape.tape = nullptr;
  EXPECT_FALSE(add(without_tape, x, of_other).needs_grad());
}

TEST_F(Refusals, NotOfValuesThatACheckpointedBodyReads) {
  const Var x = values({5, 4}), y = scale(ctx_, x, 3);
  const Var z = checkpointed(ctx_, x, [&](Context& ctx, const Var& a) { return add(ctx, a, y); });
  sum(ctx_, z).backward();
  EXPECT_EQ(x.grad().data<float>()[0], 4);
}

TEST_F(Refusals, OfDtypes) {
  const Var x = values({5, 4}), whole = values({5, 4}, DType::i64), half = values({5, 4}, DType::bf16);
  const auto norm = [&](const Var& a, const Var& residual) {
    return layer_norm(ctx_, a, residual, vector(), vector(), 1e-5f, 0, 0);
  };
  const std::vector<std::pair<std::string, std::function<void()>>> ops = {
      {"add", [&] { add(ctx_, whole, whole); }},
      {"scale", [&] { scale(ctx_, whole, 2); }},
      {"activation", [&] { activation(ctx_, whole, kernels::Activation::relu); }},
      {"cast", [&] { cast(ctx_, whole, DType::f32); }},
      {"cast", [&] { cast(ctx_, x, DType::i64); }},
      {"sum", [&] { sum(ctx_, whole); }},
      {"softmax", [&] { softmax(ctx_, whole); }},
      {"matmul", [&] { matmul(ctx_, whole, whole, {.transpose_b = true}); }},
      {"matmul", [&] { matmul(ctx_, x, x, {.transpose_b = true, .out = DType::i32}); }},
      {"mean_tokens", [&] { mean_tokens(ctx_, whole); }},
      {"first_tokens", [&] { first_tokens(ctx_, whole); }},
      {"dropout", [&] { dropout(ctx_, whole, 0.5f, 0); }},
      {"layer_norm", [&] { norm(whole, {}); }},
      {"layer_norm", [&] { norm(x, half); }},
      {"linear", [&] { linear(ctx_, whole, matrix(), nullptr); }},
      {"attention",
       [&] {
         attention(ctx_, values({5, 12}, DType::i32), 2, 0, 0);
       }},
      {"add", [&] { add(ctx_, x, half); }},
      {"matmul", [&] { matmul(ctx_, x, half, {.transpose_b = true}); }},
      {"cross_entropy",
       [&] {
         cross_entropy(ctx_, half, {{0, 0, 0, 0, 0}});
       }},
      {"binary_cross_entropy", [&] { binary_cross_entropy(ctx_, half, std::vector<float>(20)); }},
      {"mean_squared_error", [&] { mean_squared_error(ctx_, half, std::vector<float>(20)); }},
      {"span_loss",
       [&] {
         span_loss(ctx_, values({5, 2}, DType::f16), {{0, 0}}, {{0, 0}});
       }},
  };
  for (const auto& [op, action] : ops) EXPECT_TRUE(error_of(action).starts_with("[" + op + "]")) << error_of(action);
}

TEST_F(Refusals, OfDropoutRates) {
  for (const float p : {-0.1f, 1.0f, 2.0f, std::nanf("")})
    EXPECT_TRUE(contains(error_of([&] { dropout(ctx_, values({5, 4}), p, 0); }), "does not lie in [0, 1)")) << p;
}

TEST_F(Refusals, OfEmptySequencesThatHaveNoMean) {
  Batch batch;
  const std::vector<std::int32_t> ids(2);
  batch.append(ids, ids, 0);
  batch.append({}, {}, 1);
  const BatchPtr shared = shared_batch(std::move(batch));
  ctx_.begin(shared);
  EXPECT_EQ(error_of([&] { mean_tokens(ctx_, values({2, 4})); }), "[mean_tokens] sequence 1 has no tokens");
  EXPECT_EQ(error_of([&] { first_tokens(ctx_, values({2, 4})); }), "[first_tokens] sequence 1 has no tokens");
}

TEST_F(Refusals, OfPassesThatWereNotBegun) {
  Context ctx;
  EXPECT_EQ(error_of([&] {
              attention(ctx, values({5, 12}), 2, 0, 0);
            }),
            "[attention] the input (5, 12) does not have a row for each of 0 tokens: forward begins with "
            "ctx.begin(batch)");
  EXPECT_EQ(error_of([&] { ctx.begin(nullptr); }), "[Context::begin] there is no batch");
  Batch batch = *batch_;
  batch.key_counts[0] = 4;
  EXPECT_TRUE(contains(error_of([&] { ctx.begin(shared_batch(batch)); }), "[Batch] sequence 0 has 3 tokens"));
}

TEST_F(Refusals, OfUndefinedValuesAndParametersWithoutMemory) {
  EXPECT_TRUE(contains(error_of([&] { sum(ctx_, Var()); }), "[Var] read before it has a value"));
  ParameterStore store;
  Parameter& weight = store.add({{"weight", {6, 4}, 0}});
  EXPECT_TRUE(contains(error_of([&] { linear(ctx_, values({5, 4}), weight, nullptr); }), "weight has no memory yet"));
  EXPECT_TRUE(contains(error_of([&] { embedding_sum(ctx_, {{&weight, {1}}}); }), "weight has no memory yet"));
}

// The context and the tape keep the batch, whose sequences forward and backward read.
TEST(Batches, LiveAsLongAsTheirPass) {
  const Var x(Tensor::zeros({2, 4}, DType::f32));
  const std::vector<std::int32_t> ids(2);
  Batch batch;
  batch.append(ids, ids, 0);
  BatchPtr shared = shared_batch(std::move(batch));
  const std::weak_ptr<const Batch> seen = shared;
  {
    Context ctx;
    ctx.begin(shared);
    shared.reset();
    EXPECT_EQ(numbers_of(mean_tokens(ctx, x).value()), std::vector<float>(4));
  }
  EXPECT_TRUE(seen.expired());
}

// Dropping the last pointer to the batch changes nothing.
TEST(Batches, LiveUntilBackwardHasRun) {
  ParameterStore store;
  Parameter& weight = store.add({{"weight", {24, 8}, 0}});
  store.allocate();
  weight.master.copy_from(tensor_of(random_numbers(24 * 8, 1), {24, 8}));
  const auto gradient = [&](bool drops) {
    Batch batch;
    for (std::uint32_t sample = 0; sample < 40; ++sample) {
      const std::vector<std::int32_t> ids(1 + sample);
      batch.append(ids, ids, sample, 12);
    }
    store.zero_grad();
    Tape tape;
    BatchPtr shared = shared_batch(std::move(batch));
    const std::weak_ptr<const Batch> seen = shared;
    const auto forward = [&] {
      Context ctx;
      ctx.tape = &tape;
      ctx.training = true;
      ctx.begin(shared);
      const Var x(tensor_of(random_numbers(shared->tokens() * 8, 2), {shared->tokens(), 8}), true);
      const Var qkv = linear(ctx, x, weight, nullptr);
      const Var mixed = attention(ctx, qkv, 2, 0.1f, 0);
      const Var kept = dropout(ctx, mixed, 0.1f, 1);
      const Var pooled = mean_tokens(ctx, kept);
      return mean(ctx, pooled);
    };
    const Var loss = forward();
    if (drops) shared.reset();
    EXPECT_FALSE(seen.expired());
    loss.backward();
    return numbers_of(weight.grad);
  };
  EXPECT_EQ(gradient(true), gradient(false));
}

}  // namespace
}  // namespace hearth::ops
