#pragma once

#include <array>
#include <cstdint>

namespace hearth::kernels {

// GELU without exp: between 0 and 5.6 two functions of a = |x| are polynomials, one per interval of 0.18, and beyond
// that constant. With cdf and density those of the normal distribution,
//   GELU(x) = max(x, 0) - a cdf(-a)           and its derivative = 1/2 + sign(x) rise(a),
//   rise(a) = cdf(a) - 1/2 + a density(a).
// Interval i is centred at i / kIntervalsPerUnit. Its polynomials are in f = kIntervalsPerUnit a - i, from -1/2 to 1/2;
// row k of an array holds the coefficients of f^k. The errors are within 2.2e-7 (cdf) and 1e-7 (rise), and where the
// constant begins within 3.3e-7 (rise).
struct GeluTable {
  static constexpr std::int64_t kIntervals = 32;  // numbers in two AVX-512 registers
  static constexpr float kIntervalsPerUnit = 5.4375f, kLastCentre = (kIntervals - 1) / kIntervalsPerUnit;
  using Coefficients = std::array<float, kIntervals>;

  alignas(64) std::array<Coefficients, 4> cdf_below;  // cdf(-a)
  alignas(64) std::array<Coefficients, 5> rise;
};

const GeluTable& gelu_table();

}  // namespace hearth::kernels
