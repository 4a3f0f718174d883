#pragma once

#include <string>

#include "hearth/kernels/gemm/tiles.h"

namespace hearth::kernels {

// oneDNN's matmul on one thread and one tile. All calls of oneDNN are in onednn.cc, which compiles with versions 2
// and 3 of its API.
bool onednn_accepts(DType type, cpu::Isa isa);
void onednn_gemm(std::span<const GemmArgs> matmuls);
void onednn_tile(const GemmTile& tile);
std::string onednn_version();
std::string onednn_isa();  // the instruction set that oneDNN uses under our cap

}  // namespace hearth::kernels
