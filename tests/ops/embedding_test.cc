#include "hearth/ops/embedding.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hearth/base/error.h"
#include "hearth/ops/grad.h"
#include "tests/ops/op_case.h"

namespace hearth::ops {
namespace {

const std::vector<std::int32_t> kWords{5, 1, 1, 8, 0, 0, 3, 5, 5, 2, 7, 0}, kTypes{0, 1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1};
constexpr std::size_t kCols = 11;

OpCase embedding_case() {
  OpCase test;
  test.parameters = {{"words", {9, kCols}}, {"types", {2, kCols}}};
  test.op = [](Context& ctx, auto, auto p) { return embedding_sum(ctx, {{p[0], kWords, 0}, {p[1], kTypes, -1}}); };
  test.formula = [](const Context&, auto a) {
    formula::Numbers words = a[0];
    for (std::size_t c = 0; c < kCols; ++c) words[c].slope = 0;  // the padding row
    return formula::sum(formula::rows_of(words, kCols, kWords), formula::rows_of(a[1], kCols, kTypes));
  };
  return test;
}

TEST(EmbeddingSum, HasItsDerivative) { expect_derivative(embedding_case()); }

TEST(EmbeddingSum, IsCloseInNarrowFormats) { expect_close_in_narrow_formats(embedding_case(), 1); }

TEST(EmbeddingSum, RoundsTheSumOnce) {
  OpCase test;
  test.packed = Packed({1});
  test.parameters = {{"large", {1, 1}, 0, 256}, {"small", {1, 1}, 0, 0.75f}};
  test.op = [](Context& ctx, auto, auto p) {
    return embedding_sum(ctx, {{p[0], {0}, -1}, {p[1], {0}, -1}, {p[1], {0}, -1}});
  };
  test.input_type = DType::bf16;
  EXPECT_EQ(run(test).y, std::vector<float>{258});  // 257.5; each term on its own would be lost
}

TEST(EmbeddingSum, RowsOfNoTokenHaveNoGradient) {
  OpCase test = embedding_case();
  const std::vector<float> grad = run(test).grads[0];
  for (const std::size_t row : {0u, 4u, 6u})
    for (std::size_t c = 0; c < kCols; ++c) EXPECT_EQ(grad[row * kCols + c], 0) << row;
}

TEST(EmbeddingSum, NamesTheIdThatIsOutside) {
  ParameterStore store;
  Parameter& table = store.add({{"bert.embeddings.word_embeddings.weight", {9, 4}, 0}});
  store.allocate();
  Context ctx;
  for (const std::int32_t id : {9, -1}) {
    try {
      embedding_sum(ctx, {{&table, {0, id}, -1}});
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(
          std::string(error.what()),
          fmt::format("[embedding_sum] id {} is out of range for bert.embeddings.word_embeddings.weight, which has 9 "
                      "rows",
                      id));
    }
  }
}

// Steps one after the other, each with rows of its own; between them lie no zeros but those that the op writes.
TEST(EmbeddingSum, EachStepsGradientIsItsOwn) {
  ParameterStore store;
  Parameter& table = store.add({{"table", {9, 2}, 0}});
  table.is_embedding = true;
  store.allocate();
  table.master.fill_zero();
  float* const grad = table.grad.data<float>();
  std::fill(grad, grad + 18, 7.0f);
  const auto step = [&](const std::vector<std::vector<std::int32_t>>& batches) {
    store.zero_grad();
    for (const std::vector<std::int32_t>& ids : batches) {
      Tape tape;
      Context ctx;
      ctx.tape = &tape;
      const Var y = embedding_sum(ctx, {{&table, ids, -1}});
      Tensor dy(y.value().shape(), DType::f32);
      std::fill_n(dy.data<float>(), dy.size(), 1.0f);
      tape.backward_from(y, dy);
    }
    std::vector<float> firsts;
    for (std::int64_t row = 0; row < 9; ++row) firsts.push_back(grad[2 * row]);
    return firsts;
  };
  EXPECT_EQ(step({{5, 1, 5}}), (std::vector<float>{0, 1, 0, 0, 0, 2, 0, 0, 0}));
  EXPECT_EQ(step({{8, 1}, {0, 1}}), (std::vector<float>{1, 2, 0, 0, 0, 0, 0, 0, 1}));
  store.zero_grad();
  std::fill_n(grad_target(table).tensor.data<float>(), 18, 3.0f);  // as a product writes it that shares the table
  EXPECT_EQ(step({{4}}), (std::vector<float>{0, 0, 0, 0, 1, 0, 0, 0, 0}));
  store.zero_grad();
  store.complete_grads();
  EXPECT_EQ(grad[8], 0);
}

}  // namespace
}  // namespace hearth::ops
