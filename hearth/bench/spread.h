#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

namespace hearth::bench {

struct Spread {
  double mean = 0, median = 0, min = 0, max = 0;
};

// Mean, median, minimum and maximum of at least one value.
inline Spread spread_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t count = values.size();
  return {std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(count),
          (values[(count - 1) / 2] + values[count / 2]) / 2, values.front(), values.back()};
}

}  // namespace hearth::bench
