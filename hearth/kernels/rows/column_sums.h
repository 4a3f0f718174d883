#pragma once

#include <cstdint>

namespace hearth::kernels {

// sums(cols) = [sums +] the partial sums (count, cols), added first to last.
void add_in_order(std::int64_t count, std::int64_t cols, const float* partial_sums, float* sums, bool accumulate);

}  // namespace hearth::kernels
