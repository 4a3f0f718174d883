#pragma once

#include <cstdint>

namespace hearth::kernels {

// The size of a task of one thread. Where a sum is cut by one of these, the bits of the result depend on it.
inline constexpr std::int64_t kFlatChunk = 16384;  // elements of a flat array
inline constexpr std::int64_t kRowChunk = 16;      // rows, each on its own
inline constexpr std::int64_t kSumChunk = 64;      // rows that are summed
inline constexpr std::int64_t kColumnChunk = 512;  // columns of such a sum

}  // namespace hearth::kernels
