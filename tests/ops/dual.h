#pragma once

#include <cmath>
#include <numbers>

namespace hearth::ops {

// A number and its derivative along one direction: forward-mode differentiation, exact up to the rounding of doubles.
struct Dual {
  double value = 0, slope = 0;

  Dual() = default;
  Dual(double number, double derivative = 0) : value(number), slope(derivative) {}

  Dual& operator+=(const Dual& b) { return value += b.value, slope += b.slope, *this; }

  friend Dual operator+(Dual a, const Dual& b) { return a += b; }
  friend Dual operator-(const Dual& a, const Dual& b) { return {a.value - b.value, a.slope - b.slope}; }
  friend Dual operator-(const Dual& a) { return {-a.value, -a.slope}; }
  friend Dual operator*(const Dual& a, const Dual& b) {
    return {a.value * b.value, a.slope * b.value + a.value * b.slope};
  }
  friend Dual operator/(const Dual& a, const Dual& b) {
    return {a.value / b.value, (a.slope * b.value - a.value * b.slope) / (b.value * b.value)};
  }
};

inline Dual exp(const Dual& x) { return {std::exp(x.value), x.slope * std::exp(x.value)}; }
inline Dual log(const Dual& x) { return {std::log(x.value), x.slope / x.value}; }
inline Dual sqrt(const Dual& x) { return {std::sqrt(x.value), x.slope / (2 * std::sqrt(x.value))}; }
inline Dual pow(const Dual& x, double exponent) {
  return {std::pow(x.value, exponent), x.slope * exponent * std::pow(x.value, exponent - 1)};
}
inline Dual tanh(const Dual& x) {
  const double y = std::tanh(x.value);
  return {y, x.slope * (1 - y * y)};
}
inline Dual erf(const Dual& x) {
  return {std::erf(x.value), x.slope * 2 * std::numbers::inv_sqrtpi * std::exp(-x.value * x.value)};
}
inline Dual relu(const Dual& x) { return x.value > 0 ? x : Dual(); }

}  // namespace hearth::ops
