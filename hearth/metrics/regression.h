#pragma once

#include <span>

namespace hearth::metrics {

// The mean squared error, computed in double.
double mean_squared_error(std::span<const float> truth, std::span<const float> predicted);
double mean_squared_error(std::span<const double> truth, std::span<const double> predicted);

// Pearson's correlation; NaN if an input is constant. Needs at least two numbers. The version for float rounds every
// step to float, as scipy does with float32 arrays; only the final dot product, whose order of additions depends on the
// BLAS library in scipy's case, is accumulated in a wider type.
float pearson(std::span<const float> x, std::span<const float> y);
double pearson(std::span<const double> x, std::span<const double> y);

// Spearman's correlation: that of the ranks, where equal numbers share their average rank. NaN if an input is constant,
// contains NaN or has fewer than two numbers.
double spearman(std::span<const float> x, std::span<const float> y);
double spearman(std::span<const double> x, std::span<const double> y);

}  // namespace hearth::metrics
