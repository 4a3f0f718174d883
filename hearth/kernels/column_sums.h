#pragma once

#include <cstdint>

namespace hearth::kernels {

// sums(cols) = [sums +] the sum of partial sums (count, cols), first to last.
void add_in_order(std::int64_t count, std::int64_t cols, const float* partial_sums, float* sums, bool accumulate);

}  // namespace hearth::kernels
