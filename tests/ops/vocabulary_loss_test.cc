#include "hearth/ops/vocabulary_loss.h"

#include <gtest/gtest.h>

#include "hearth/ops/embedding.h"
#include "hearth/ops/linear.h"
#include "hearth/ops/loss.h"
#include "tests/ops/op_case.h"

namespace hearth::ops {
namespace {

const std::vector<std::int64_t> kLabels{2, 0, 8, 4, 3, 3, 1};
constexpr std::int64_t kWords = 9, kHidden = 6;

Dual mean_loss(const formula::Numbers& logits, float label_smoothing) {
  Dual loss;
  for (std::size_t row = 0; row < kLabels.size(); ++row) {
    const std::span<const Dual> of_row(logits.data() + row * kWords, kWords);
    loss += (1 - label_smoothing) * formula::negative_log_likelihood(of_row, static_cast<std::size_t>(kLabels[row]));
    for (std::size_t word = 0; word < kWords; ++word)
      loss += label_smoothing / kWords * formula::negative_log_likelihood(of_row, word);
  }
  return loss / static_cast<double>(kLabels.size());
}

OpCase small_case(float label_smoothing) {
  OpCase test;
  test.inputs = {{"x", {7, kHidden}}};
  test.parameters = {{"words", {kWords, kHidden}}, {"bias", {kWords}}};
  test.op = [=](Context& ctx, auto x, auto p) {
    return vocabulary_loss(ctx, x[0], *p[0], *p[1], kLabels, label_smoothing).loss;
  };
  test.formula = [=](const Context&, auto a) {
    return formula::Numbers{mean_loss(formula::linear(a[0], a[1], kHidden, a[2]), label_smoothing)};
  };
  return test;
}

TEST(VocabularyLoss, HasItsDerivative) {
  expect_derivative(small_case(0));
  expect_derivative(small_case(0.1f));
}

TEST(VocabularyLoss, IsCloseInNarrowFormats) { expect_close_in_narrow_formats(small_case(0), 4); }

TEST(VocabularyLoss, SharesItsTableWithAnEmbedding) {
  OpCase test = small_case(0);
  const std::vector<std::int32_t> ids{3, 0, 3, 6, 1, 8, 2};
  test.inputs = {};
  test.op = [=](Context& ctx, auto, auto p) {
    const Var x = embedding_sum(ctx, {{p[0], ids, -1}});
    return vocabulary_loss(ctx, x, *p[0], *p[1], kLabels).loss;
  };
  test.formula = [=](const Context&, auto a) {
    return formula::Numbers{mean_loss(formula::linear(formula::rows_of(a[0], kHidden, ids), a[0], kHidden, a[1]), 0)};
  };
  expect_derivative(test);
}

// More words than a block of the smallest number of rows may have logits, so that there are several blocks.
constexpr std::int64_t kManyWords = (1 << 17) + 1, kRows = 40;

std::vector<std::int64_t> many_labels() {
  std::vector<std::int64_t> labels;
  for (std::int64_t row = 0; row < kRows; ++row) labels.push_back(row * row * 37 % kManyWords);
  return labels;
}

OpCase large_case(DType type) {
  OpCase test;
  test.inputs = {{"x", {kRows, kHidden}}};
  test.parameters = {{"words", {kManyWords, kHidden}}, {"bias", {kManyWords}}};
  test.input_type = type;
  test.op = [](Context& ctx, auto x, auto p) {
    return vocabulary_loss(ctx, x[0], *p[0], *p[1], many_labels(), 0.1f).loss;
  };
  return test;
}

TEST(VocabularyLoss, IsThatOfAllLogitsAtOnce) {
  ASSERT_GT(kRows, vocabulary_block_rows(kManyWords));
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    SCOPED_TRACE(name_of(type));
    const OpCase test = large_case(type);
    OpCase whole = test;
    whole.op = [](Context& ctx, auto x, auto p) {
      const Var logits = linear(ctx, x[0], *p[0], p[1], kernels::Activation::none, DType::f32);
      return cross_entropy(ctx, logits, many_labels(), {.label_smoothing = 0.1f});
    };
    const Outcome actual = run(test), expected = run(whole);
    expect_near(actual.y, expected.y, 1e-6, "the loss");
    const double unit = type == DType::f32 ? 1e-6 : type == DType::bf16 ? 0x1p-8 : 0x1p-11;
    for (std::size_t i = 0; i < expected.grads.size(); ++i)
      expect_near(actual.grads[i], expected.grads[i], unit, "the gradient of " + test.arrays()[i].name);
  }
}

TEST(VocabularyLoss, IsTheSameForAnyThreads) { expect_same_for_any_threads(large_case(DType::bf16)); }

TEST(VocabularyLoss, OfNoRowsIsZero) {
  OpCase test = small_case(0);
  test.inputs = {{"x", {0, kHidden}}};
  test.op = [](Context& ctx, auto x, auto p) { return vocabulary_loss(ctx, x[0], *p[0], *p[1], {}).loss; };
  const Outcome outcome = run(test);
  EXPECT_EQ(outcome.y, std::vector<float>{0});
  for (const std::vector<float>& grad : outcome.grads)
    EXPECT_TRUE(std::ranges::all_of(grad, [](float value) { return value == 0; }));
}

TEST(VocabularyLoss, KnowsTheMostLikelyTokensWhereNoTapeRecords) {
  ParameterStore store;
  Parameter &words = store.add({{"words", {3, 2}, 0}}), &bias = store.add({{"bias", {3}, 0}});
  store.allocate();
  words.master.copy_from(tensor_of({1, 0, 0, 1, -1, -1}, {3, 2}));
  bias.master.copy_from(tensor_of({0, 0, 0.5f}, {3}));
  const Var x(tensor_of({2, 1, 1, 3, -1, 0, 0, 0}, {4, 2}));
  const std::vector<std::int64_t> labels{0, 0, 0, 0};
  Context ctx;
  EXPECT_EQ(vocabulary_loss(ctx, x, words, bias, labels).predicted, (std::vector<std::int32_t>{0, 1, 2, 2}));
  Tape tape;
  ctx.tape = &tape;
  EXPECT_TRUE(vocabulary_loss(ctx, x, words, bias, labels).predicted.empty());
}

}  // namespace
}  // namespace hearth::ops
