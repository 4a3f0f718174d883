#include <gtest/gtest.h>

#include <cmath>

#include "hearth/ops/chunks.h"
#include "hearth/ops/elementwise.h"
#include "hearth/ops/embedding_loss.h"
#include "hearth/ops/loss.h"
#include "hearth/ops/matmul.h"
#include "hearth/ops/parts.h"
#include "hearth/ops/pooling.h"
#include "hearth/ops/similarity.h"
#include "tests/ops/op_case.h"
#include "tests/support.h"

namespace hearth::ops {
namespace {

constexpr std::size_t kColumns = 5;

// Calls row(values of x in this row) for each row and puts the results together.
template <class Row>
formula::Numbers by_row(const formula::Numbers& x, const Row& row) {
  formula::Numbers y;
  for (std::size_t at = 0; at < x.size(); at += kColumns) {
    const formula::Numbers part = row(std::span(x).subspan(at, kColumns), at / kColumns);
    y.insert(y.end(), part.begin(), part.end());
  }
  return y;
}

TEST(Parts, RowsHaveTheirDerivative) {
  OpCase test;
  test.inputs = {{"x", {7, kColumns}}};
  test.op = [](Context& ctx, auto x, auto) {
    const Var last = slice_rows(ctx, x[0], 4, 7), first = slice_rows(ctx, x[0], 0, 2);
    return concat_rows(ctx, std::array{last, first});
  };
  test.formula = [](const Context&, auto a) {
    formula::Numbers y(a[0].begin() + 4 * kColumns, a[0].end());
    y.insert(y.end(), a[0].begin(), a[0].begin() + 2 * kColumns);
    return y;
  };
  expect_derivative(test);
  expect_close_in_narrow_formats(test, 0);
}

TEST(Parts, ColumnsHaveTheirDerivative) {
  OpCase test;
  test.inputs = {{"x", {3, kColumns}}, {"z", {3, kColumns}}};
  test.op = [](Context& ctx, auto x, auto) {
    const Var part = first_columns(ctx, x[0], 2);
    return concat_columns(ctx, std::array{part, x[1]});
  };
  test.formula = [](const Context&, auto a) {
    return by_row(a[0], [&](auto row, std::size_t index) {
      formula::Numbers y(row.begin(), row.begin() + 2);
      y.insert(y.end(), a[1].begin() + index * kColumns, a[1].begin() + (index + 1) * kColumns);
      return y;
    });
  };
  expect_derivative(test);
  expect_close_in_narrow_formats(test, 0);
}

Dual dot(std::span<const Dual> a, std::span<const Dual> b) {
  Dual sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum = sum + a[i] * b[i];
  return sum;
}

TEST(Similarity, NormalisedRowsHaveTheirDerivative) {
  OpCase test;
  test.inputs = {{"x", {70, kColumns}}};
  test.op = [](Context& ctx, auto x, auto) { return normalize_rows(ctx, x[0]); };
  test.formula = [](const Context&, auto a) {
    return by_row(a[0], [](auto row, std::size_t) {
      const Dual norm = sqrt(dot(row, row));
      formula::Numbers y;
      for (const Dual& value : row) y.push_back(value / norm);
      return y;
    });
  };
  expect_derivative(test);
  expect_same_for_any_threads(test);
}

TEST(Similarity, RowsOfZerosStayZeros) {
  Tape tape;
  Context ctx;
  ctx.tape = &tape;
  const Var x(Tensor::zeros({1, 3}, DType::f32), true);
  const Var y = normalize_rows(ctx, x, 0.5f);
  EXPECT_EQ(numbers_of(y.value()), (std::vector<float>{0, 0, 0}));
  tape.backward_from(y, tensor_of({1, 2, 3}, {1, 3}));
  EXPECT_EQ(numbers_of(x.grad()), (std::vector<float>{2, 4, 6}));
}

OpCase pairs(std::function<Var(Context&, const Var&, const Var&)> op,
             std::function<Dual(std::span<const Dual>, std::span<const Dual>)> formula) {
  OpCase test;
  test.inputs = {{"a", {9, kColumns}}, {"b", {9, kColumns}}};
  test.op = [op](Context& ctx, auto x, auto) { return op(ctx, x[0], x[1]); };
  test.formula = [formula](const Context&, auto a) {
    return by_row(a[0], [&](auto row, std::size_t index) {
      return formula::Numbers{formula(row, std::span(a[1]).subspan(index * kColumns, kColumns))};
    });
  };
  return test;
}

TEST(Similarity, DotProductsHaveTheirDerivative) { expect_derivative(pairs(dot_rows, dot)); }

TEST(Similarity, DistancesHaveTheirDerivative) {
  const auto op = [](Distance distance) {
    return [distance](Context& ctx, const Var& a, const Var& b) { return distance_rows(ctx, a, b, distance, 0.25f); };
  };
  expect_derivative(pairs(op(Distance::euclidean), [](auto a, auto b) {
    Dual sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum = sum + (a[i] - b[i] + 0.25) * (a[i] - b[i] + 0.25);
    return sqrt(sum);
  }));
  expect_derivative(pairs(op(Distance::manhattan), [](auto a, auto b) {
    Dual sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const Dual difference = a[i] - b[i] + 0.25;
      sum = difference.value > 0 ? sum + difference : sum - difference;
    }
    return sum;
  }));
}

TEST(Similarity, EqualRowsHaveNoDistanceAndNoGradient) {
  Tape tape;
  Context ctx;
  ctx.tape = &tape;
  const Var a(tensor_of({1, 2}, {1, 2}), true), b(tensor_of({1, 2}, {1, 2}), true);
  const Var d = distance_rows(ctx, a, b, Distance::euclidean);
  tape.backward_from(d, tensor_of({1}, {1}));
  EXPECT_EQ(numbers_of(d.value()), (std::vector<float>{0}));
  EXPECT_EQ(numbers_of(a.grad()), (std::vector<float>{0, 0}));
}

// More rows than a block has: the same as the whole matrix and its cross entropy.
TEST(RankingLoss, IsTheCrossEntropyOfAllScores) {
  constexpr std::int64_t kQueries = 300, kDocuments = 650, kSize = 24, kFirst = 17;
  struct Result {
    float loss;
    std::vector<float> dq, dc;
  };
  const auto run = [&](const std::function<Var(Context&, const Var&, const Var&)>& loss_of) {
    Tape tape;
    Context ctx;
    ctx.tape = &tape;
    const Var q(tensor_of(random_numbers(kQueries * kSize, 1, 0.3f), {kQueries, kSize}), true);
    const Var c(tensor_of(random_numbers(kDocuments * kSize, 2, 0.3f), {kDocuments, kSize}), true);
    const Var loss = loss_of(ctx, q, c);
    tape.backward(loss, 0.5f);
    return Result{loss.value().item(), numbers_of(q.grad()), numbers_of(c.grad())};
  };
  const Result whole = run([&](Context& ctx, const Var& q, const Var& c) {
    const Var scores = matmul(ctx, q, c, {.transpose_b = true});
    const Var scaled = scale(ctx, scores, 4);
    std::vector<std::int64_t> labels;
    for (std::int64_t i = 0; i < kQueries; ++i) labels.push_back(kFirst + i);
    return cross_entropy(ctx, scaled, labels);
  });
  const auto blocked = [&](Context& ctx, const Var& q, const Var& c) { return ranking_loss(ctx, q, c, 4, kFirst); };
  const Result parts = run(blocked);
  EXPECT_NEAR(parts.loss, whole.loss, 1e-6 * whole.loss);
  expect_near(parts.dq, whole.dq, 1e-5, "the gradient of the queries");
  expect_near(parts.dc, whole.dc, 1e-5, "the gradient of the candidates");
  cpu::set_num_threads(7);
  const Result again = run(blocked);
  cpu::set_num_threads(0);
  EXPECT_TRUE(again.loss == parts.loss && again.dq == parts.dq && again.dc == parts.dc) << "threads change bits";
}

TEST(CosentLoss, NoPairOfDifferentLabelsIsNoLoss) {
  Context ctx;
  EXPECT_EQ(cosent_loss(ctx, Var(tensor_of({1, 5, -3}, {3})), std::vector<float>{2, 2, 2}).value().item(), 0);
}

TEST(CosentLoss, LargeScalesDoNotOverflow) {
  Context ctx;
  const Var scores(tensor_of({200, -200}, {2}));
  EXPECT_FLOAT_EQ(cosent_loss(ctx, scores, std::vector<float>{0, 1}).value().item(), 400);
  EXPECT_FLOAT_EQ(cosent_loss(ctx, scores, std::vector<float>{1, 0}).value().item(), 0);
}

TEST(EmbeddingOps, RefuseWhatDoesNotFit) {
  Context ctx;
  const Var matrix(tensor_of(std::vector<float>(6), {2, 3})), vector(tensor_of({1, 2}, {2}));
  EXPECT_TRUE(contains(error_of([&] { slice_rows(ctx, matrix, 1, 3); }), "[slice_rows] rows 1 to 3 of 2"));
  EXPECT_TRUE(contains(error_of([&] { first_columns(ctx, matrix, 4); }), "[first_columns] 4 of 3 columns"));
  EXPECT_TRUE(contains(error_of([&] { concat_rows(ctx, {}); }), "there are no parts"));
  EXPECT_TRUE(contains(error_of([&] { normalize_rows(ctx, vector); }), "is not an fp32 matrix"));
  EXPECT_TRUE(contains(error_of([&] { ranking_loss(ctx, matrix, matrix, 1, 1); }), "queries 1 to 3 of 2 candidates"));
  EXPECT_TRUE(contains(error_of([&] { cosent_loss(ctx, vector, std::vector<float>{1}); }), "1 labels for"));
}

}  // namespace
}  // namespace hearth::ops
