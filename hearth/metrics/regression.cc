#include "hearth/metrics/regression.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/metrics/pairwise_sum.h"

namespace hearth::metrics {
namespace {

void check_sizes(std::size_t one, std::size_t other, std::size_t least) {
  check(one == other, "there are {} numbers on one side and {} on the other", one, other);
  check(one >= least, "{} pairs of numbers are too few: at least {} are needed", one, least);
}

template <class T>
bool is_constant(std::span<const T> values) {
  return std::all_of(values.begin(), values.end(), [&](T value) { return value == values[0]; });
}

template <class T>
double mean_squared_error_of(std::span<const T> truth, std::span<const T> predicted) {
  check_sizes(truth.size(), predicted.size(), 1);
  std::vector<double> squares;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double error = static_cast<double>(truth[i]) - static_cast<double>(predicted[i]);
    squares.push_back(error * error);
  }
  return pairwise_sum<double>(squares) / static_cast<double>(squares.size());
}

template <class T>
T norm(std::span<const T> values) {
  T largest = 0;
  for (const T value : values) largest = std::max(largest, std::abs(value));
  std::vector<T> squares;
  for (const T value : values) squares.push_back((value / largest) * (value / largest));
  return largest * std::sqrt(pairwise_sum<T>(squares));
}

// The values less their mean, divided by their norm.
template <class T>
std::vector<T> normalized(std::span<const T> values) {
  const T mean = static_cast<T>(pairwise_sum(values) / static_cast<double>(values.size()));
  std::vector<T> result;
  for (const T value : values) result.push_back(value - mean);
  const T length = norm<T>(result);
  for (T& value : result) value /= length;
  return result;
}

template <class Wide, class T>
T pearson_of(std::span<const T> x, std::span<const T> y) {
  check_sizes(x.size(), y.size(), 2);
  if (is_constant(x) || is_constant(y)) return std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> a = normalized(x), b = normalized(y);
  Wide dot = 0;
  for (std::size_t i = 0; i < a.size(); ++i) dot += static_cast<Wide>(a[i]) * static_cast<Wide>(b[i]);
  const T result = std::clamp(static_cast<T>(dot), T{-1}, T{1});
  return a.size() == 2 ? std::nearbyint(result) : result;
}

// Ranks from 1 on, less their mean. They are multiples of 1/2, so sums of their products are exact in any order.
template <class T>
std::vector<double> centered_ranks(std::span<const T> values) {
  std::vector<std::size_t> order(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  const double mean = static_cast<double>(values.size() + 1) / 2;
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0, behind = 0; first < order.size(); first = behind) {
    while (behind < order.size() && values[order[behind]] == values[order[first]]) ++behind;
    const double shared = static_cast<double>(first + 1 + behind) / 2;
    for (std::size_t i = first; i < behind; ++i) ranks[order[i]] = shared - mean;
  }
  return ranks;
}

double covariance(std::span<const double> a, std::span<const double> b) {
  double dot = 0;
  for (std::size_t i = 0; i < a.size(); ++i) dot += a[i] * b[i];
  return dot * (1 / static_cast<double>(a.size() - 1));
}

template <class T>
bool has_ranks(std::span<const T> values) {
  return values.size() >= 2 && !is_constant(values) &&
         std::none_of(values.begin(), values.end(), [](T value) { return std::isnan(value); });
}

template <class T>
double spearman_of(std::span<const T> x, std::span<const T> y) {
  check_sizes(x.size(), y.size(), 0);
  if (!has_ranks(x) || !has_ranks(y)) return std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> a = centered_ranks(x), b = centered_ranks(y);
  const double result = covariance(a, b) / std::sqrt(covariance(b, b)) / std::sqrt(covariance(a, a));
  return std::clamp(result, -1.0, 1.0);
}

}  // namespace

double mean_squared_error(std::span<const float> truth, std::span<const float> predicted) {
  return mean_squared_error_of(truth, predicted);
}
double mean_squared_error(std::span<const double> truth, std::span<const double> predicted) {
  return mean_squared_error_of(truth, predicted);
}

float pearson(std::span<const float> x, std::span<const float> y) { return pearson_of<double>(x, y); }
double pearson(std::span<const double> x, std::span<const double> y) { return pearson_of<long double>(x, y); }

double spearman(std::span<const float> x, std::span<const float> y) { return spearman_of(x, y); }
double spearman(std::span<const double> x, std::span<const double> y) { return spearman_of(x, y); }

}  // namespace hearth::metrics
