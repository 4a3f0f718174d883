#pragma once

#include <cstdint>
#include <span>

namespace hearth::kernels {

// Elements [begin, end) of sum = those of all arrays, added in their order; on the calling thread. `sum` may be one of
// the arrays.
void sum_arrays(std::span<const float* const> arrays, std::int64_t begin, std::int64_t end, float* sum);

}  // namespace hearth::kernels
