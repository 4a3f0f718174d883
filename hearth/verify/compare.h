#pragma once

#include <cmath>
#include <span>

namespace hearth::verify {

// Keeps the largest error; NaN after any NaN.
class LargestError {
 public:
  void take(double error) {
    if (!std::isnan(worst_) && !(error <= worst_)) worst_ = error;
  }
  double value() const { return worst_; }

 private:
  double worst_ = 0;
};

double largest(std::span<const float> values);  // of the absolute values
double largest_difference(std::span<const float> ours, std::span<const float> expected);

// error / scale, and 0 if both are 0.
double share(double error, double scale);
double relative(double ours, double expected);

// A gradient whose largest value is under kZeroShare of the model's largest gradient is zero in exact arithmetic and
// holds rounding noise: ours must be small too, but its values are not compared.
constexpr double kZeroShare = 1e-6;

struct GradientError {
  bool is_zero = false;
  double error = 0, tolerance = 0;
};
GradientError gradient_error(std::span<const float> ours, std::span<const float> expected, double largest_of_model);

}  // namespace hearth::verify
