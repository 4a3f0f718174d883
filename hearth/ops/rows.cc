#include "hearth/ops/rows.h"

#include <vector>

#include "hearth/base/check.h"
#include "hearth/cpu/parallel.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/ops/cast.h"
#include "hearth/ops/grad.h"

namespace hearth::ops {
namespace {

void check_pooled(const Context& ctx, std::string_view op, const Tensor& x) {
  check_floats(op, x);
  ctx.check_tokens(op, x);
  for (std::int64_t s = 0; s < ctx.sequences.count(); ++s)
    check(ctx.sequences.key_counts[static_cast<std::size_t>(s)] > 0, "[{}] sequence {} has no tokens", op, s);
}

// Calls visit(sequence, its first row, one past its last token, one past its last row), in parallel.
template <class Visit>
void for_each_sequence(const kernels::Sequences& sequences, const Visit& visit) {
  cpu::parallel_for(sequences.count(), [&](std::int64_t s) {
    const std::int64_t begin = sequences.starts[static_cast<std::size_t>(s)];
    visit(s, begin, begin + sequences.key_counts[static_cast<std::size_t>(s)],
          sequences.starts[static_cast<std::size_t>(s) + 1]);
  });
}

// x (T, H) += y (R, H), row i of y at row rows[i] of x.
void add_to_rows(const Tensor& y, std::span<const std::int64_t> rows, const GradTarget& x) {
  if (!x.accumulate) x.tensor.fill_zero();
  for (std::int64_t i = 0; i < y.rows(); ++i) {
    const std::int64_t row = rows[static_cast<std::size_t>(i)];
    kernels::add_into(y.type(), y.row_size(), y.slice(i, i + 1).raw(), x.tensor.slice(row, row + 1).raw());
  }
}

// row (H) f32 = the mean of rows (N, H)
void mean_of_rows(const Tensor& rows, const Tensor& row) {
  kernels::column_sums(rows.type(), rows.rows(), row.size(), rows.raw(), row.size(), row.data<float>(), false);
  kernels::scale(DType::f32, row.size(), 1.0f / static_cast<float>(rows.rows()), row.raw(), row.raw());
}

}  // namespace

Var first_tokens(Context& ctx, const Var& x) {
  check_pooled(ctx, "first_tokens", x.value());
  return take_rows(ctx, x, ctx.sequences.starts.first(static_cast<std::size_t>(ctx.sequences.count())));
}

Var take_rows(Context& ctx, const Var& x, std::span<const std::int64_t> rows) {
  check_floats("take_rows", x.value());
  Tensor y({std::ssize(rows), x.value().row_size()}, x.value().type());
  for (std::int64_t i = 0; i < y.rows(); ++i) {
    const std::int64_t row = rows[static_cast<std::size_t>(i)];
    check(0 <= row && row < x.value().rows(), "[take_rows] there is no row {} in {}", row,
          x.value().shape().to_string());
    y.slice(i, i + 1).copy_from(x.value().slice(row, row + 1));
  }
  return ctx.record({"take rows", {x}}, y,
                    [x = x.edge(), rows = std::vector(rows.begin(), rows.end())](const Tensor& dy) {
                      add_to_rows(dy, rows, grad_target(x));
                    });
}

Var mean_tokens(Context& ctx, const Var& x) {
  check_pooled(ctx, "mean_tokens", x.value());
  const kernels::Sequences sequences = ctx.sequences;
  const Tensor means({sequences.count(), x.value().row_size()}, DType::f32);
  for_each_sequence(sequences, [&](std::int64_t s, std::int64_t begin, std::int64_t end, std::int64_t) {
    mean_of_rows(x.value().slice(begin, end), means.slice(s, s + 1));
  });
  return ctx.record({"mean tokens", {x}}, in_dtype(means, x.value().type()), [x = x.edge(), sequences](Tensor dy) {
    const GradTarget target = grad_target(x);
    for_each_sequence(sequences, [&](std::int64_t s, std::int64_t begin, std::int64_t end, std::int64_t padded_end) {
      const Tensor share = dy.slice(s, s + 1);
      kernels::scale(dy.type(), share.size(), 1.0f / static_cast<float>(end - begin), share.raw(), share.raw());
      if (!target.accumulate) target.tensor.slice(begin, padded_end).fill_zero();
      for (std::int64_t token = begin; token < end; ++token)
        kernels::add_into(dy.type(), share.size(), share.raw(), target.tensor.slice(token, token + 1).raw());
    });
  });
}

}  // namespace hearth::ops
