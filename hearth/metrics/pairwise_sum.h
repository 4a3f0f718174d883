#pragma once

#include <cstddef>
#include <span>

namespace hearth::metrics {

// Adds in the order of numpy.sum, so that averages and norms equal numpy's to the last digit: eight partial sums within
// a block of at most 128 values, and halves of longer arrays.
template <class T>
T pairwise_sum(std::span<const T> values) {
  constexpr std::size_t kLanes = 8, kBlock = 128;
  const std::size_t count = values.size();
  if (count > kBlock) {
    const std::size_t half = count / 2 / kLanes * kLanes;
    return pairwise_sum(values.first(half)) + pairwise_sum(values.subspan(half));
  }
  T sum = 0;
  std::size_t at = 0;
  if (count >= kLanes) {
    T lanes[kLanes] = {};
    for (; at + kLanes <= count; at += kLanes)
      for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += values[at + lane];
    sum = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
  }
  for (; at < count; ++at) sum += values[at];
  return sum;
}

}  // namespace hearth::metrics
