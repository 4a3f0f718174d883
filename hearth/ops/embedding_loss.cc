#include "hearth/ops/embedding_loss.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/ops/grad.h"

namespace hearth::ops {
namespace {

Tensor scalar(double value) {
  Tensor loss(Shape{}, DType::f32);
  *loss.data<float>() = static_cast<float>(value);
  return loss;
}

// The gradients were computed together with the loss; backward only scales them.
Var recorded(Context& ctx, double loss, std::vector<Var> inputs, std::vector<Tensor> gradients) {
  return ctx.record({"loss", inputs}, scalar(loss), [edges = edges_of(inputs), gradients](const Tensor& dloss) {
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (!edges[i].needs_grad()) continue;
      const Tensor& gradient = gradients[i];
      kernels::scale(DType::f32, gradient.size(), dloss.item(), gradient.raw(), gradient.raw());
      add_grad(edges[i], gradient);
    }
  });
}

std::span<const float> values_of(const Var& vector) {
  return {vector.value().data<float>(), static_cast<std::size_t>(vector.value().size())};
}

void check_vector_and_labels(std::string_view op, const Var& vector, std::span<const float> labels) {
  check(vector.value().type() == DType::f32 && vector.value().shape().rank() == 1 &&
            vector.value().size() == std::ssize(labels),
        "[{}] {} labels for {} {}", op, labels.size(), name_of(vector.value().type()),
        vector.value().shape().to_string());
  check(!labels.empty(), "[{}] there are no pairs", op);
}

double square(double x) { return x * x; }

}  // namespace

Var cosent_loss(Context& ctx, const Var& similarities, std::span<const float> labels) {
  check_vector_and_labels("cosent_loss", similarities, labels);
  const std::span<const float> s = values_of(similarities);
  std::vector<std::size_t> order(s.size());  // by label
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return labels[i]; });
  // The sum over pairs is a product of sums over the rows below and above, each shifted by half of the largest
  // difference, so that no exponential overflows.
  const auto [least, most] = std::ranges::minmax(s);
  const double middle = (double{least} + most) / 2;
  const auto rising = [&](std::size_t i) { return std::exp(s[i] - middle); };
  const auto falling = [&](std::size_t i) { return std::exp(middle - s[i]); };
  // below[i]: sum of exp(s_k - middle) over labels below that of i; above[i]: of exp(middle - s_j) over those above.
  std::vector<double> below(s.size()), above(s.size());
  const auto add_up = [&](auto begin, auto end, const auto& term, std::vector<double>& sums) {
    double sum = 0;
    for (auto group = begin; group != end;) {
      auto next = group;
      double of_group = 0;
      for (; next != end && labels[*next] == labels[*group]; ++next) {
        sums[*next] = sum;
        of_group += term(*next);
      }
      sum += of_group;
      group = next;
    }
  };
  add_up(order.begin(), order.end(), rising, below);
  add_up(order.rbegin(), order.rend(), falling, above);
  double pairs = 0;
  for (std::size_t i = 0; i < s.size(); ++i) pairs += falling(i) * below[i];
  Tensor slopes({std::ssize(s)}, DType::f32);
  for (std::size_t i = 0; i < s.size(); ++i)
    slopes.data<float>()[i] = static_cast<float>((rising(i) * above[i] - falling(i) * below[i]) / (1 + pairs));
  return recorded(ctx, std::log1p(pairs), {similarities}, {slopes});
}

Var triplet_loss(Context& ctx, const Var& positive_distances, const Var& negative_distances, float margin) {
  check_same("triplet_loss", positive_distances.value(), negative_distances.value());
  const std::span<const float> positive = values_of(positive_distances), negative = values_of(negative_distances);
  const auto count = static_cast<double>(positive.size());
  Tensor up({std::ssize(positive)}, DType::f32), down({std::ssize(positive)}, DType::f32);
  double sum = 0;
  for (std::size_t i = 0; i < positive.size(); ++i) {
    const double excess = double{positive[i]} - negative[i] + margin;
    const auto slope = static_cast<float>(excess > 0 ? 1 / count : 0);
    sum += std::max(0.0, excess);
    up.data<float>()[i] = slope;
    down.data<float>()[i] = -slope;
  }
  return recorded(ctx, sum / count, {positive_distances, negative_distances}, {up, down});
}

Var contrastive_loss(Context& ctx, const Var& distances, std::span<const float> labels, float margin) {
  check_vector_and_labels("contrastive_loss", distances, labels);
  const std::span<const float> d = values_of(distances);
  const auto count = static_cast<double>(d.size());
  Tensor slopes({std::ssize(d)}, DType::f32);
  double sum = 0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    const double short_of = std::max(0.0, double{margin} - d[i]), label = labels[i];
    sum += (label * square(d[i]) + (1 - label) * square(short_of)) / 2;
    slopes.data<float>()[i] = static_cast<float>((label * d[i] - (1 - label) * short_of) / count);
  }
  return recorded(ctx, sum / count, {distances}, {slopes});
}

Var online_contrastive_loss(Context& ctx, const Var& distances, std::span<const float> labels, float margin) {
  check_vector_and_labels("online_contrastive_loss", distances, labels);
  const std::span<const float> d = values_of(distances);
  std::vector<float> near, far;  // of positive and of negative pairs
  for (std::size_t i = 0; i < d.size(); ++i) {
    if (labels[i] == 1) near.push_back(d[i]);
    if (labels[i] == 0) far.push_back(d[i]);
  }
  const auto mean = [](const std::vector<float>& x) {
    return static_cast<float>(std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size()));
  };
  const float farthest_positive = near.size() > 1 ? std::ranges::max(near) : mean(far);
  const float nearest_negative = far.size() > 1 ? std::ranges::min(far) : mean(near);
  Tensor slopes({std::ssize(d)}, DType::f32);
  double sum = 0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    const double short_of = std::max(0.0, double{margin} - d[i]);
    double slope = 0;
    if (labels[i] == 1 && d[i] > nearest_negative) {
      sum += square(d[i]);
      slope = 2 * double{d[i]};
    } else if (labels[i] == 0 && d[i] < farthest_positive) {
      sum += square(short_of);
      slope = -2 * short_of;
    }
    slopes.data<float>()[i] = static_cast<float>(slope);
  }
  return recorded(ctx, sum, {distances}, {slopes});
}

Var distill_kl_loss(Context& ctx, std::span<const Var> scores, std::span<const float> teacher, float temperature) {
  check(scores.size() > 1, "[distill_kl_loss] {} candidates: a distribution needs at least two", scores.size());
  for (const Var& each : scores) check_same("distill_kl_loss", each.value(), scores.front().value());
  const std::size_t candidates = scores.size(), rows = values_of(scores.front()).size();
  check(teacher.size() == rows * candidates, "[distill_kl_loss] {} teacher's scores for {} rows of {} candidates",
        teacher.size(), rows, candidates);
  std::vector<Tensor> slopes;
  for (std::size_t c = 0; c < candidates; ++c) slopes.emplace_back(Shape{static_cast<std::int64_t>(rows)}, DType::f32);
  // The logarithm of softmax(x / temperature).
  const auto log_softmax = [&](const std::function<double(std::size_t)>& x) {
    std::vector<double> log(candidates);
    for (std::size_t c = 0; c < candidates; ++c) log[c] = x(c) / temperature;
    const double most = std::ranges::max(log);
    double sum = 0;
    for (const double value : log) sum += std::exp(value - most);
    for (double& value : log) value -= most + std::log(sum);
    return log;
  };
  double sum = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto student = log_softmax([&](std::size_t c) { return double{values_of(scores[c])[row]}; });
    const auto target = log_softmax([&](std::size_t c) { return double{teacher[row * candidates + c]}; });
    for (std::size_t c = 0; c < candidates; ++c) {
      const double probability = std::exp(target[c]);
      sum += probability * (target[c] - student[c]);
      slopes[c].data<float>()[row] =
          static_cast<float>((std::exp(student[c]) - probability) * temperature / static_cast<double>(rows));
    }
  }
  return recorded(ctx, sum / static_cast<double>(rows) * square(temperature), {scores.begin(), scores.end()},
                  std::move(slopes));
}

}  // namespace hearth::ops
