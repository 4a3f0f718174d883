#include "hearth/ops/parts.h"

#include <cstring>

#include "hearth/base/check.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/ops/grad.h"

namespace hearth::ops {
namespace {

// Columns [first, first + count) of a matrix, as raw memory.
struct Columns {
  const Tensor& matrix;
  std::int64_t first = 0, count = 0;

  std::byte* row(std::int64_t row) const {
    const auto element = static_cast<std::size_t>(row * matrix.row_size() + first);
    return static_cast<std::byte*>(matrix.raw()) + element * size_of(matrix.type());
  }
  std::size_t bytes() const { return static_cast<std::size_t>(count) * size_of(matrix.type()); }
};

void copy(const Columns& from, const Columns& to) {
  for (std::int64_t row = 0; row < from.matrix.rows(); ++row) std::memcpy(to.row(row), from.row(row), from.bytes());
}

void check_matrix(std::string_view op, const Tensor& x) {
  check_floats(op, x);
  check(x.shape().rank() == 2, "[{}] the input {} is not a matrix", op, x.shape().to_string());
}

// All parts have one dtype and as many rows or columns as the first one.
void check_parts(std::string_view op, std::span<const Var> parts, int shared_axis) {
  check(!parts.empty(), "[{}] there are no parts", op);
  for (const Var& part : parts) {
    check_matrix(op, part.value());
    check(part.value().shape()[shared_axis] == parts.front().value().shape()[shared_axis] &&
              part.value().type() == parts.front().value().type(),
          "[{}] {} {} does not fit to {} {}", op, name_of(part.value().type()), part.value().shape().to_string(),
          name_of(parts.front().value().type()), parts.front().value().shape().to_string());
  }
}

}  // namespace

Var slice_rows(Context& ctx, const Var& x, std::int64_t begin, std::int64_t end) {
  check_floats("slice_rows", x.value());
  check(0 <= begin && begin <= end && end <= x.value().rows(), "[slice_rows] rows {} to {} of {}", begin, end,
        x.value().rows());
  return ctx.record({"slice rows", {x}}, x.value().slice(begin, end), [x = x.edge(), begin, end](const Tensor& dy) {
    const GradTarget target = grad_target(x);
    if (!target.accumulate) target.tensor.fill_zero();
    kernels::add_into(dy.type(), dy.size(), dy.raw(), target.tensor.slice(begin, end).raw());
  });
}

Var first_columns(Context& ctx, const Var& x, std::int64_t count) {
  check_matrix("first_columns", x.value());
  check(0 < count && count <= x.value().row_size(), "[first_columns] {} of {} columns", count, x.value().row_size());
  Tensor y({x.value().rows(), count}, x.value().type());
  copy({x.value(), 0, count}, {y, 0, count});
  return ctx.record({"first columns", {x}}, y, [x = x.edge(), count](const Tensor& dy) {
    const Tensor dx = Tensor::zeros(x.shape(), x.type());
    copy({dy, 0, count}, {dx, 0, count});
    add_grad(x, dx);
  });
}

Var concat_rows(Context& ctx, std::span<const Var> parts) {
  check_parts("concat_rows", parts, 1);
  std::int64_t rows = 0;
  for (const Var& part : parts) rows += part.value().rows();
  Tensor y({rows, parts.front().value().row_size()}, parts.front().value().type());
  std::int64_t at = 0;
  for (const Var& part : parts) {
    y.slice(at, at + part.value().rows()).copy_from(part.value());
    at += part.value().rows();
  }
  return ctx.record({"concat rows", {parts.begin(), parts.end()}}, y, [edges = edges_of(parts)](const Tensor& dy) {
    std::int64_t begin = 0;
    for (const GradientEdge& part : edges) {
      const std::int64_t end = begin + part.shape()[0];
      if (part.needs_grad()) add_grad(part, dy.slice(begin, end).clone());
      begin = end;
    }
  });
}

Var concat_columns(Context& ctx, std::span<const Var> parts) {
  check_parts("concat_columns", parts, 0);
  std::int64_t columns = 0;
  for (const Var& part : parts) columns += part.value().row_size();
  Tensor y({parts.front().value().rows(), columns}, parts.front().value().type());
  std::int64_t at = 0;
  for (const Var& part : parts) {
    const std::int64_t count = part.value().row_size();
    copy({part.value(), 0, count}, {y, at, count});
    at += count;
  }
  return ctx.record({"concat columns", {parts.begin(), parts.end()}}, y, [edges = edges_of(parts)](const Tensor& dy) {
    std::int64_t first = 0;
    for (const GradientEdge& part : edges) {
      const std::int64_t count = part.shape().row_size();
      if (part.needs_grad()) {
        const Tensor dpart(part.shape(), part.type());
        copy({dy, first, count}, {dpart, 0, count});
        add_grad(part, dpart);
      }
      first += count;
    }
  });
}

}  // namespace hearth::ops
