#include "hearth/ops/similarity.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/cpu/parallel.h"
#include "hearth/ops/grad.h"

namespace hearth::ops {
namespace {

constexpr std::int64_t kRowsPerTask = 64;

void check_f32(std::string_view op, const Tensor& x) {
  check(x.type() == DType::f32 && x.shape().rank() == 2, "[{}] the input {} {} is not an fp32 matrix", op,
        name_of(x.type()), x.shape().to_string());
}

std::span<float> row_of(const Tensor& x, std::int64_t row) {
  return {x.data<float>() + row * x.row_size(), static_cast<std::size_t>(x.row_size())};
}

float dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += double{a[i]} * b[i];
  return static_cast<float>(sum);
}

template <class Visit>
void for_each_row(std::int64_t rows, const Visit& visit) {
  cpu::parallel_chunks(rows, kRowsPerTask, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) visit(row);
  });
}

// The gradient of x, whose row r is slope[r] times row r of `other`.
void add_scaled_rows(const GradientEdge& x, const Tensor& other, const Tensor& slope) {
  if (!x.needs_grad()) return;
  const Tensor dx(x.shape(), DType::f32);
  for_each_row(dx.rows(), [&](std::int64_t row) {
    const std::span<float> to = row_of(dx, row), from = row_of(other, row);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = slope.data<float>()[row] * from[i];
  });
  add_grad(x, dx);
}

}  // namespace

Var normalize_rows(Context& ctx, const Var& x, float least) {
  check_f32("normalize_rows", x.value());
  const Tensor y(x.value().shape(), DType::f32);
  std::vector<float> norms(static_cast<std::size_t>(y.rows()));
  for_each_row(y.rows(), [&](std::int64_t row) {
    const std::span<float> from = row_of(x.value(), row), to = row_of(y, row);
    const float norm = std::max(std::sqrt(dot(from, from)), least);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = from[i] / norm;
    norms[static_cast<std::size_t>(row)] = norm;
  });
  return ctx.record({"normalize", {x}}, y, [x = x.edge(), y, norms = std::move(norms), least](const Tensor& dy) {
    const Tensor dx(y.shape(), DType::f32);
    for_each_row(y.rows(), [&](std::int64_t row) {
      const std::span<float> slope = row_of(dy, row), unit = row_of(y, row), to = row_of(dx, row);
      const float norm = norms[static_cast<std::size_t>(row)];
      const float along = norm > least ? dot(slope, unit) : 0;  // a norm below `least` is a constant
      for (std::size_t i = 0; i < to.size(); ++i) to[i] = (slope[i] - along * unit[i]) / norm;
    });
    add_grad(x, dx);
  });
}

Var dot_rows(Context& ctx, const Var& a, const Var& b) {
  check_f32("dot_rows", a.value());
  check_same("dot_rows", a.value(), b.value());
  const Tensor y({a.value().rows()}, DType::f32);
  for_each_row(y.rows(),
               [&](std::int64_t row) { y.data<float>()[row] = dot(row_of(a.value(), row), row_of(b.value(), row)); });
  const Tensor first = value_for_grad_of(b, a), second = value_for_grad_of(a, b);
  return ctx.record({"dot product", {a, b}}, y, [a = a.edge(), b = b.edge(), first, second](const Tensor& dy) {
    add_scaled_rows(a, second, dy);
    add_scaled_rows(b, first, dy);
  });
}

Var cosine_rows(Context& ctx, const Var& a, const Var& b, float least) {
  const Var unit_a = normalize_rows(ctx, a, least);
  const Var unit_b = normalize_rows(ctx, b, least);
  return dot_rows(ctx, unit_a, unit_b);
}

Var distance_rows(Context& ctx, const Var& a, const Var& b, Distance distance, float shift) {
  check_f32("distance_rows", a.value());
  check_same("distance_rows", a.value(), b.value());
  const bool is_euclidean = distance == Distance::euclidean;
  const Tensor y({a.value().rows()}, DType::f32);
  const Tensor slopes(a.value().shape(), DType::f32);  // of each distance by its row of a - b
  for_each_row(y.rows(), [&](std::int64_t row) {
    const std::span<float> first = row_of(a.value(), row), second = row_of(b.value(), row), slope = row_of(slopes, row);
    double sum = 0;
    for (std::size_t i = 0; i < slope.size(); ++i) {
      slope[i] = first[i] - second[i] + shift;
      sum += is_euclidean ? double{slope[i]} * slope[i] : std::abs(double{slope[i]});
    }
    const auto norm = static_cast<float>(is_euclidean ? std::sqrt(sum) : sum);
    for (float& difference : slope) {
      if (is_euclidean) {
        difference = norm > 0 ? difference / norm : 0;
      } else {
        difference = static_cast<float>((difference > 0) - (difference < 0));
      }
    }
    y.data<float>()[row] = norm;
  });
  return ctx.record({"distance", {a, b}}, y, [a = a.edge(), b = b.edge(), slopes](const Tensor& dy) {
    add_scaled_rows(a, slopes, dy);
    Tensor negative({dy.rows()}, DType::f32);
    for (std::int64_t row = 0; row < dy.rows(); ++row) negative.data<float>()[row] = -dy.data<float>()[row];
    add_scaled_rows(b, slopes, negative);
  });
}

}  // namespace hearth::ops
