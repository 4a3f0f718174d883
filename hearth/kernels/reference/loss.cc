#include <algorithm>
#include <cmath>
#include <limits>

#include "hearth/kernels/reference/reference.h"

namespace hearth::kernels::reference {
namespace {

// log(sum(exp(logits))) of `count` logits, `stride` apart.
double log_sum_exp(std::int64_t count, std::int64_t stride, const float* logits) {
  double max = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::int64_t i = 0; i < count; ++i) max = std::max<double>(max, logits[i * stride]);
  for (std::int64_t i = 0; i < count; ++i) sum += std::exp(logits[i * stride] - max);
  return max + std::log(sum);
}

double weight_of(std::span<const float> weights, std::int64_t index) {
  return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(index)];
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

struct ValueAndSlope {
  double value, slope;
};

// loss times base^gamma.
ValueAndSlope focal(const ValueAndSlope& loss, const ValueAndSlope& base, double gamma) {
  if (gamma == 0) return loss;
  const double factor = std::pow(base.value, gamma);
  const double slope = base.value == 0 ? 0 : gamma * std::pow(base.value, gamma - 1) * base.slope;
  return {loss.value * factor, loss.slope * factor + loss.value * slope};
}

// The focal loss of a row of weight 1, as a function of its negative log likelihood.
ValueAndSlope focal_row(double nll, double gamma) {
  return focal({nll, 1}, {-std::expm1(-nll), std::exp(-nll)}, gamma);
}

ValueAndSlope binary_cell(double x, double target, double weight, double gamma) {
  const double p = sigmoid(x), q = sigmoid(-x);
  const ValueAndSlope loss = {weight * target * softplus(-x) + (1 - target) * softplus(x),
                              (1 - target) * p - weight * target * q};
  return focal(loss, {target * q + (1 - target) * p, (1 - 2 * target) * p * q}, gamma);
}

}  // namespace

float cross_entropy(std::int64_t rows, std::int64_t classes, const float* logits, const std::int64_t* labels,
                    const CrossEntropyOptions& options, float* dlogits) {
  if (dlogits != nullptr) std::fill_n(dlogits, rows * classes, 0.0f);
  double loss = 0, denominator = 0;
  for (std::int64_t row = 0; row < rows; ++row)
    if (labels[row] != options.ignore_label) denominator += weight_of(options.class_weights, labels[row]);
  for (std::int64_t row = 0; row < rows; ++row) {
    if (labels[row] == options.ignore_label) continue;
    const float* const x = logits + row * classes;
    const double log_sum = log_sum_exp(classes, 1, x);
    const ValueAndSlope focal = focal_row(log_sum - x[labels[row]], options.focal_gamma);
    double targets = 0;
    const auto target = [&](std::int64_t i) {
      const double share = options.label_smoothing / static_cast<double>(classes);
      return weight_of(options.class_weights, i) * (share + (i == labels[row] ? 1.0 - options.label_smoothing : 0.0));
    };
    for (std::int64_t i = 0; i < classes; ++i) {
      targets += target(i);
      if (target(i) == 0) continue;
      loss += target(i) * (options.focal_gamma == 0 ? log_sum - x[i] : focal.value) / denominator;
    }
    if (dlogits == nullptr || denominator == 0) continue;
    for (std::int64_t i = 0; i < classes; ++i)
      dlogits[row * classes + i] =
          static_cast<float>(focal.slope * (targets * std::exp(x[i] - log_sum) - target(i)) / denominator);
  }
  return denominator > 0 ? static_cast<float>(loss) : std::numeric_limits<float>::quiet_NaN();
}

float binary_cross_entropy(std::int64_t rows, std::int64_t labels, const float* logits, const float* targets,
                           const BinaryCrossEntropyOptions& options, float* dlogits) {
  const auto cells = static_cast<double>(rows * labels);
  double total = 0;
  for (std::int64_t i = 0; i < rows * labels; ++i) {
    const double weight = weight_of(options.class_weights, i % labels);
    const ValueAndSlope cell = binary_cell(logits[i], targets[i], weight, options.focal_gamma);
    total += cell.value;
    if (dlogits != nullptr) dlogits[i] = static_cast<float>(cell.slope / cells);
  }
  return static_cast<float>(total / cells);
}

float mean_squared_error(std::int64_t n, const float* logits, const float* targets, float* dlogits) {
  double total = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double error = static_cast<double>(logits[i]) - targets[i];
    total += error * error;
    if (dlogits != nullptr) dlogits[i] = static_cast<float>(2 * error / static_cast<double>(n));
  }
  return static_cast<float>(total / static_cast<double>(n));
}

float span_loss(const Sequences& sequences, const float* logits, const std::int64_t* starts, const std::int64_t* ends,
                float* dlogits) {
  if (dlogits != nullptr) std::fill_n(dlogits, 2 * sequences.tokens(), 0.0f);
  double loss = 0;
  for (int side = 0; side < 2; ++side) {
    const std::int64_t* const positions = side == 0 ? starts : ends;
    double total = 0, counted = 0;
    // First how many count, then their losses.
    for (const bool counting : {true, false}) {
      for (std::size_t s = 0; s + 1 < sequences.starts.size(); ++s) {
        const std::int64_t first = sequences.starts[s], length = sequences.starts[s + 1] - first;
        const std::int64_t position = std::max<std::int64_t>(0, positions[s]);
        if (position >= length) continue;
        if (counting) {
          counted += 1;
          continue;
        }
        const float* const x = logits + 2 * first + side;
        const double log_sum = log_sum_exp(length, 2, x);
        total += log_sum - x[2 * position];
        if (dlogits == nullptr) continue;
        for (std::int64_t i = 0; i < length; ++i) {
          const double target = i == position ? 1.0 : 0.0;
          dlogits[2 * (first + i) + side] = static_cast<float>((std::exp(x[2 * i] - log_sum) - target) / (2 * counted));
        }
      }
    }
    loss += 0.5 * total / counted;
  }
  return static_cast<float>(loss);
}

}  // namespace hearth::kernels::reference
