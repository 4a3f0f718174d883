#include <algorithm>
#include <cmath>
#include <limits>

#include "hearth/kernels/reference.h"

namespace hearth::kernels::reference {
namespace {

// log(sum(exp(logits))) of `count` logits, `stride` apart.
double log_sum_exp(std::int64_t count, std::int64_t stride, const float* logits) {
  double max = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::int64_t i = 0; i < count; ++i) max = std::max<double>(max, logits[i * stride]);
  for (std::int64_t i = 0; i < count; ++i) sum += std::exp(logits[i * stride] - max);
  return max + std::log(sum);
}

}  // namespace

float cross_entropy(std::int64_t rows, std::int64_t classes, const float* logits, const std::int64_t* labels,
                    std::int64_t ignore_label, float label_smoothing, float* dlogits) {
  if (dlogits != nullptr) std::fill_n(dlogits, rows * classes, 0.0f);
  const auto counted = static_cast<double>(rows - std::count(labels, labels + rows, ignore_label));
  double loss = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    if (labels[row] == ignore_label) continue;
    const float* const x = logits + row * classes;
    const double log_sum = log_sum_exp(classes, 1, x);
    for (std::int64_t i = 0; i < classes; ++i) {
      const double target =
          label_smoothing / static_cast<double>(classes) + (i == labels[row] ? 1.0 - label_smoothing : 0.0);
      if (target != 0) loss += target * (log_sum - x[i]) / counted;
      if (dlogits != nullptr)
        dlogits[row * classes + i] = static_cast<float>((std::exp(x[i] - log_sum) - target) / counted);
    }
  }
  return counted > 0 ? static_cast<float>(loss) : std::numeric_limits<float>::quiet_NaN();
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
