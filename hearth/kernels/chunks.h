#pragma once

#include <cstdint>

namespace hearth::kernels {

// What one thread takes at a time. Where a sum is cut by one of these, its bits depend on it.
inline constexpr std::int64_t kFlatChunk = 16384;  // elements of a flat array
inline constexpr std::int64_t kRowChunk = 16;      // rows, each on its own
inline constexpr std::int64_t kSumChunk = 64;      // rows that are summed
inline constexpr std::int64_t kColumnChunk = 512;  // columns of such a sum

}  // namespace hearth::kernels
