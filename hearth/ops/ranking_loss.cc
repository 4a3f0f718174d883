// The mean cross entropy of the scores S = scale Q C^T, where row i belongs to column first + i. With the probabilities
// P = softmax(S) and their target Y, the gradients are dQ = scale / M (P - Y) C and dC = scale / M (P - Y)^T Q. Blocks
// of rows are computed one after the other, forward and gradients at once, so that only a block of S is in memory.
#include <algorithm>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/base/profiler.h"
#include "hearth/kernels/loss/loss.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/ops/embedding_loss.h"
#include "hearth/ops/grad.h"
#include "hearth/ops/multiply.h"

namespace hearth::ops {
namespace {

constexpr std::int64_t kBlockRows = 256;

}  // namespace

Var ranking_loss(Context& ctx, const Var& queries, const Var& candidates, float scale, std::int64_t first) {
  const Span span("loss");
  const Tensor &q = queries.value(), &c = candidates.value();
  check(q.type() == DType::f32 && c.type() == DType::f32 && q.shape().rank() == 2 && c.shape().rank() == 2 &&
            q.row_size() == c.row_size() && q.rows() > 0,
        "[ranking_loss] {} {} and {} {} do not fit", name_of(q.type()), q.shape().to_string(), name_of(c.type()),
        c.shape().to_string());
  const std::int64_t rows = q.rows(), columns = c.rows();
  check(0 <= first && first + rows <= columns, "[ranking_loss] queries {} to {} of {} candidates", first, first + rows,
        columns);
  const bool needs_grad = ctx.needs_grad(queries) || ctx.needs_grad(candidates);
  const Tensor dq(needs_grad ? q.shape() : Shape{0}, DType::f32), dc(needs_grad ? c.shape() : Shape{0}, DType::f32);
  const Tensor all_scores({std::min(rows, kBlockRows), columns}, DType::f32);
  const Tensor all_slopes(needs_grad ? all_scores.shape() : Shape{0}, DType::f32);
  double loss = 0;
  for (std::int64_t begin = 0; begin < rows; begin += kBlockRows) {
    const std::int64_t count = std::min(kBlockRows, rows - begin);
    const double share = static_cast<double>(count) / static_cast<double>(rows);
    const Tensor block = q.slice(begin, begin + count), scores = all_scores.slice(0, count);
    multiply_into({block}, {c, true}, scores, false);
    kernels::scale(DType::f32, scores.size(), scale, scores.raw(), scores.raw());
    std::vector<std::int64_t> targets;
    for (std::int64_t row = 0; row < count; ++row) targets.push_back(first + begin + row);
    loss += share * double{kernels::cross_entropy(count, columns, scores.data<float>(), targets.data(), {},
                                                  needs_grad ? all_slopes.data<float>() : nullptr)};
    if (!needs_grad) continue;
    const Tensor slopes = all_slopes.slice(0, count);
    kernels::scale(DType::f32, slopes.size(), static_cast<float>(share * scale), slopes.raw(), slopes.raw());
    multiply_into({slopes}, {c}, dq.slice(begin, begin + count), false);
    multiply_into({slopes, true}, {block}, dc, begin > 0);
  }
  Tensor result(Shape{}, DType::f32);
  *result.data<float>() = static_cast<float>(loss);
  return ctx.record({"loss", {queries, candidates}}, result,
                    [queries = queries.edge(), candidates = candidates.edge(), dq, dc](const Tensor& dloss) {
                      const auto add = [&](const GradientEdge& x, const Tensor& dx) {
                        if (!x.needs_grad()) return;
                        kernels::scale(DType::f32, dx.size(), dloss.item(), dx.raw(), dx.raw());
                        add_grad(x, dx);
                      };
                      add(queries, dq);
                      add(candidates, dc);
                    });
}

}  // namespace hearth::ops
