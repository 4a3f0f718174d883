#include "hearth/metrics/classification.h"

#include <cmath>
#include <map>

#include "hearth/base/check.h"

namespace hearth::metrics {
namespace {

void check_sizes(Labels truth, Labels predicted) {
  check(truth.size() == predicted.size() && !truth.empty(), "there are {} predicted labels for {} examples",
        predicted.size(), truth.size());
}

std::int64_t number_correct(Labels truth, Labels predicted) {
  std::int64_t correct = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) correct += truth[i] == predicted[i];
  return correct;
}

using Frequencies = std::map<std::int64_t, double>;

Frequencies frequencies_of(Labels labels) {
  Frequencies frequencies;
  for (const std::int64_t label : labels) ++frequencies[label];
  return frequencies;
}

double dot(const Frequencies& a, const Frequencies& b) {
  double sum = 0;
  for (const auto& [label, frequency] : a) {
    const auto found = b.find(label);
    if (found != b.end()) sum += frequency * found->second;
  }
  return sum;
}

}  // namespace

double accuracy(Labels truth, Labels predicted) {
  check_sizes(truth, predicted);
  return ratio(number_correct(truth, predicted), static_cast<std::int64_t>(truth.size()));
}

Scores binary_scores(Labels truth, Labels predicted) {
  check_sizes(truth, predicted);
  Counts positive;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    positive.truth += truth[i] == 1;
    positive.predicted += predicted[i] == 1;
    positive.correct += truth[i] == 1 && predicted[i] == 1;
  }
  return scores_of(positive);
}

double matthews_correlation(Labels truth, Labels predicted) {
  check_sizes(truth, predicted);
  const Frequencies true_frequencies = frequencies_of(truth), predicted_frequencies = frequencies_of(predicted);
  const auto examples = static_cast<double>(truth.size());
  const auto correct = static_cast<double>(number_correct(truth, predicted));
  const double covariance = correct * examples - dot(true_frequencies, predicted_frequencies);
  const double predicted_variance = examples * examples - dot(predicted_frequencies, predicted_frequencies);
  const double true_variance = examples * examples - dot(true_frequencies, true_frequencies);
  const double variances = predicted_variance * true_variance;
  return variances == 0 ? 0.0 : covariance / std::sqrt(variances);
}

}  // namespace hearth::metrics
