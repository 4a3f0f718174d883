#pragma once

#include <cstdint>

#include "hearth/kernels/simd/tiles.h"

namespace hearth::kernels::panels {

// A TileUnit for bf16 on vector registers (AVX512-BF16, vdpbf16ps). It has no state.
class VectorTiles {
 public:
  static void multiply(DType type, const LeftPanel& left, const std::uint16_t* right, std::int64_t depth, float* sums,
                       std::int64_t pitch, bool accumulate, const Wanted& wanted = {});
};

}  // namespace hearth::kernels::panels
