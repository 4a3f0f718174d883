#pragma once

#include <cstdint>
#include <span>

namespace hearth::kernels {

struct PartialSums {
  const float* parts;  // (count, cols)
  float* sums;         // (cols); null: not wanted
  bool accumulate;
};
// sums = [sums +] the parts, added first to last; several of the same size in one parallel region.
void add_in_order(std::int64_t count, std::int64_t cols, std::span<const PartialSums> all);

}  // namespace hearth::kernels
