// The mean cross entropy of the scores S = scale Q C^T, where row i belongs to column first + i. With the probabilities
// P = softmax(S) and their target Y, the gradients are dQ = scale / M (P - Y) C and dC = scale / M (P - Y)^T Q. Blocks
// of rows are computed one after the other, forward and gradients at once, so that only a block of S is in memory.
#include <algorithm>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/base/profiler.h"
#include "hearth/kernels/gemm/gemm.h"
#include "hearth/kernels/loss/loss.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/ops/embedding_loss.h"
#include "hearth/ops/grad.h"

namespace hearth::ops {
namespace {

constexpr std::int64_t kBlockRows = 256;

struct Matrix {
  const float* values = nullptr;
  std::int64_t row_size = 0;
  bool transposed = false;
};

// result (m, n) = [result +] a b, where `inner` is the shared axis
void multiply(std::int64_t m, std::int64_t n, std::int64_t inner, const Matrix& a, const Matrix& b, float* result,
              bool accumulate) {
  kernels::GemmArgs matmul;
  matmul.m = m;
  matmul.n = n;
  matmul.k = inner;
  matmul.a = a.values;
  matmul.lda = a.row_size;
  matmul.a_transposed = a.transposed;
  matmul.b = b.values;
  matmul.ldb = b.row_size;
  matmul.b_transposed = b.transposed;
  matmul.c = result;
  matmul.ldc = n;
  matmul.accumulate = accumulate;
  kernels::gemm(matmul);
}

}  // namespace

Var ranking_loss(Context& ctx, const Var& queries, const Var& candidates, float scale, std::int64_t first) {
  const Span span("loss");
  const Tensor &q = queries.value(), &c = candidates.value();
  check(q.type() == DType::f32 && c.type() == DType::f32 && q.shape().rank() == 2 && c.shape().rank() == 2 &&
            q.row_size() == c.row_size() && q.rows() > 0,
        "[ranking_loss] {} {} and {} {} do not fit", name_of(q.type()), q.shape().to_string(), name_of(c.type()),
        c.shape().to_string());
  const std::int64_t rows = q.rows(), columns = c.rows(), size = q.row_size();
  check(0 <= first && first + rows <= columns, "[ranking_loss] queries {} to {} of {} candidates", first, first + rows,
        columns);
  const bool needs_grad = ctx.needs_grad(queries) || ctx.needs_grad(candidates);
  const Tensor dq(needs_grad ? q.shape() : Shape{0}, DType::f32), dc(needs_grad ? c.shape() : Shape{0}, DType::f32);
  const Tensor scores({std::min(rows, kBlockRows), columns}, DType::f32);
  const Tensor slopes(needs_grad ? scores.shape() : Shape{0}, DType::f32);
  double loss = 0;
  for (std::int64_t begin = 0; begin < rows; begin += kBlockRows) {
    const std::int64_t count = std::min(kBlockRows, rows - begin);
    const double share = static_cast<double>(count) / static_cast<double>(rows);
    const float* const block = q.data<float>() + begin * size;
    multiply(count, columns, size, {block, size}, {c.data<float>(), size, true}, scores.data<float>(), false);
    kernels::scale(DType::f32, count * columns, scale, scores.raw(), scores.raw());
    std::vector<std::int64_t> targets;
    for (std::int64_t row = 0; row < count; ++row) targets.push_back(first + begin + row);
    loss += share * double{kernels::cross_entropy(count, columns, scores.data<float>(), targets.data(), {},
                                                  needs_grad ? slopes.data<float>() : nullptr)};
    if (!needs_grad) continue;
    kernels::scale(DType::f32, count * columns, static_cast<float>(share * scale), slopes.raw(), slopes.raw());
    multiply(count, size, columns, {slopes.data<float>(), columns}, {c.data<float>(), size},
             dq.data<float>() + begin * size, false);
    multiply(columns, size, count, {slopes.data<float>(), columns, true}, {block, size}, dc.data<float>(), begin > 0);
  }
  Tensor result(Shape{}, DType::f32);
  *result.data<float>() = static_cast<float>(loss);
  return ctx.record({"loss", {queries, candidates}}, result, [queries, candidates, dq, dc](const Tensor& dloss) {
    const auto add = [&](const Var& x, const Tensor& dx) {
      if (!x.needs_grad()) return;
      kernels::scale(DType::f32, dx.size(), dloss.item(), dx.raw(), dx.raw());
      add_grad(x, dx);
    };
    add(queries, dq);
    add(candidates, dc);
  });
}

}  // namespace hearth::ops
