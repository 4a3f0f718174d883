#include "hearth/kernels/attention/reference.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "hearth/kernels/attention/head.h"
#include "hearth/kernels/simd/visit.h"

namespace hearth::kernels {
namespace {

using Vector = std::vector<double>;

// Dropout multiplies the probability of (query, key) by this.
double dropout_factor(const AttentionHead& head, std::int64_t query, std::int64_t key) {
  const Dropout& dropout = head.args.dropout;
  if (!dropout.active()) return 1;
  const bool kept = dropout_keeps(dropout, head.sample(), head.dropout_row(query), static_cast<std::uint32_t>(key));
  return kept ? dropout.scale() : 0;
}

template <class Work>
void for_each_head(const AttentionArgs& args, Work&& work) {
  for (std::int64_t s = 0; s < args.sequences.count(); ++s)
    for (std::int64_t h = 0; h < args.heads; ++h) work(AttentionHead{args, s, h});
}

// The head's part of every row: (length, dim).
template <class T>
Vector load(const AttentionHead& head, const void* data, std::int64_t stride) {
  Vector rows(static_cast<std::size_t>(head.length * head.dim));
  for (std::int64_t i = 0; i < head.length; ++i)
    for (std::int64_t d = 0; d < head.dim; ++d)
      rows[i * head.dim + d] = static_cast<float>(head.row<T>(data, i, stride)[d]);
  return rows;
}

template <class T>
void store(const AttentionHead& head, const Vector& rows, void* data, std::int64_t stride) {
  for (std::int64_t i = 0; i < head.length; ++i)
    for (std::int64_t d = 0; d < head.dim; ++d)
      head.row<T>(data, i, stride)[d] = T(static_cast<float>(rows[i * head.dim + d]));
}

double dot(const Vector& a, std::int64_t row_a, const Vector& b, std::int64_t row_b, std::int64_t dim) {
  double sum = 0;
  for (std::int64_t d = 0; d < dim; ++d) sum += a[row_a * dim + d] * b[row_b * dim + d];
  return sum;
}

void add(Vector& y, std::int64_t row_y, double factor, const Vector& x, std::int64_t row_x, std::int64_t dim) {
  for (std::int64_t d = 0; d < dim; ++d) y[row_y * dim + d] += factor * x[row_x * dim + d];
}

template <class T>
void forward(const AttentionArgs& args) {
  for_each_head(args, [&](const AttentionHead& head) {
    const Vector q = load<T>(head, args.q, args.stride), k = load<T>(head, args.k, args.stride);
    const Vector v = load<T>(head, args.v, args.stride);
    Vector out(q.size()), p(static_cast<std::size_t>(head.keys));
    for (std::int64_t i = 0; i < head.length; ++i) {
      for (std::int64_t j = 0; j < head.keys; ++j) p[j] = args.scale * dot(q, i, k, j, head.dim);
      const double max = *std::ranges::max_element(p);
      double sum = 0;
      for (double& x : p) sum += x = std::exp(x - max);
      for (std::int64_t j = 0; j < head.keys; ++j) add(out, i, p[j] / sum * dropout_factor(head, i, j), v, j, head.dim);
      head.lse(i) = static_cast<float>(max + std::log(sum));
    }
    store<T>(head, out, args.out, head.width);
  });
}

template <class T>
void backward(const AttentionArgs& args, const AttentionGradArgs& grads) {
  for_each_head(args, [&](const AttentionHead& head) {
    const Vector q = load<T>(head, args.q, args.stride), k = load<T>(head, args.k, args.stride);
    const Vector v = load<T>(head, args.v, args.stride);
    const Vector out = load<T>(head, args.out, head.width), dout = load<T>(head, grads.dout, head.width);
    Vector dq(q.size()), dk(q.size()), dv(q.size());
    for (std::int64_t i = 0; i < head.length; ++i) {
      const double mean_dp = dot(dout, i, out, i, head.dim);  // the sum over keys of P * dP
      for (std::int64_t j = 0; j < head.keys; ++j) {
        const double p = std::exp(args.scale * dot(q, i, k, j, head.dim) - head.lse(i));
        const double factor = dropout_factor(head, i, j);
        const double ds = args.scale * p * (factor * dot(dout, i, v, j, head.dim) - mean_dp);
        add(dv, j, p * factor, dout, i, head.dim);
        add(dq, i, ds, k, j, head.dim);
        add(dk, j, ds, q, i, head.dim);
      }
    }
    store<T>(head, dq, grads.dq, grads.dstride);
    store<T>(head, dk, grads.dk, grads.dstride);
    store<T>(head, dv, grads.dv, grads.dstride);
  });
}

}  // namespace

void attention_reference_forward(const AttentionArgs& args) {
  visit_float(args.type, [&](auto value) { forward<decltype(value)>(args); });
}

void attention_reference_backward(const AttentionArgs& args, const AttentionGradArgs& grads) {
  visit_float(args.type, [&](auto value) { backward<decltype(value)>(args, grads); });
}

}  // namespace hearth::kernels
