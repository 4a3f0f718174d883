#include "hearth/verify/compare.h"

#include "hearth/base/check.h"

namespace hearth::verify {
namespace {

constexpr double kGradient = 2e-5, kZeroGradient = 1e-5;

}  // namespace

double largest(std::span<const float> values) {
  LargestError worst;
  for (const float value : values) worst.take(std::abs(double{value}));
  return worst.value();
}

double largest_difference(std::span<const float> ours, std::span<const float> expected) {
  check(ours.size() == expected.size(), "[verify] {} values are compared with {}", ours.size(), expected.size());
  LargestError worst;
  for (std::size_t i = 0; i < ours.size(); ++i) worst.take(std::abs(double{ours[i]} - expected[i]));
  return worst.value();
}

double share(double error, double scale) { return error == 0 && scale == 0 ? 0 : error / scale; }

double relative(double ours, double expected) { return share(std::abs(ours - expected), std::abs(expected)); }

GradientError gradient_error(std::span<const float> ours, std::span<const float> expected, double largest_of_model) {
  const double scale = largest(expected);
  if (scale <= kZeroShare * largest_of_model) return {true, share(largest(ours), largest_of_model), kZeroGradient};
  return {false, share(largest_difference(ours, expected), scale), kGradient};
}

}  // namespace hearth::verify
