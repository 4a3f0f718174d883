#pragma once

#include <cmath>
#include <span>

namespace hearth::verify {

// The largest error taken; NaN once any was NaN.
class Worst {
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

// `error` as a share of `scale`; no error is none of any scale, and an error where the scale is zero is infinite.
double share(double error, double scale);
double relative(double ours, double expected);

// A gradient under kZeroShare of the largest of the model is zero in exact arithmetic. Its values are noise: ours must
// be as small, and is compared with nothing else.
constexpr double kZeroShare = 1e-6;

struct GradientError {
  bool is_zero = false;
  double error = 0, tolerance = 0;
};
GradientError gradient_error(std::span<const float> ours, std::span<const float> expected, double largest_of_model);

}  // namespace hearth::verify
