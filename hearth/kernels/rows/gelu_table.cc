#include "hearth/kernels/rows/gelu_table.h"

#include <cmath>
#include <cstddef>
#include <numbers>

namespace hearth::kernels {
namespace {

double cdf_below(double a) { return 0.5 * std::erfc(a / std::numbers::sqrt2); }
double rise(double a) {
  const double density = std::exp(-0.5 * a * a) / std::sqrt(2 * std::numbers::pi);
  return 0.5 - cdf_below(a) + a * density;
}

// The polynomial through the function's values at the Chebyshev nodes of (-1/2, 1/2).
template <std::size_t count, class Function>
std::array<double, count> fitted(const Function& function) {
  std::array<double, count> nodes, differences, coefficients{};
  for (std::size_t i = 0; i < count; ++i) {
    nodes[i] = 0.5 * std::cos((static_cast<double>(i) + 0.5) / count * std::numbers::pi);
    differences[i] = function(nodes[i]);
  }
  // Newton's divided differences, then the polynomial multiplied out from its last term to its first.
  for (std::size_t order = 1; order < count; ++order)
    for (std::size_t i = count - 1; i >= order; --i)
      differences[i] = (differences[i] - differences[i - 1]) / (nodes[i] - nodes[i - order]);
  for (std::size_t term = count; term-- > 0;) {
    for (std::size_t k = count - 1; k > 0; --k) coefficients[k] = coefficients[k - 1] - nodes[term] * coefficients[k];
    coefficients[0] = differences[term] - nodes[term] * coefficients[0];
  }
  return coefficients;
}

template <std::size_t count>
void fill(std::array<GeluTable::Coefficients, count>& rows, double (*function)(double), float last) {
  for (std::size_t i = 0; i + 1 < GeluTable::kIntervals; ++i) {
    const auto coefficients =
        fitted<count>([&](double f) { return function((static_cast<double>(i) + f) / GeluTable::kIntervalsPerUnit); });
    for (std::size_t k = 0; k < count; ++k) rows[k][i] = static_cast<float>(coefficients[k]);
  }
  for (GeluTable::Coefficients& row : rows) row.back() = 0;
  rows[0].back() = last;
}

GeluTable make_table() {
  GeluTable table;
  fill(table.cdf_below, cdf_below, 0);
  fill(table.rise, rise, 0.5f);
  return table;
}

}  // namespace

const GeluTable& gelu_table() {
  static const GeluTable table = make_table();
  return table;
}

}  // namespace hearth::kernels
