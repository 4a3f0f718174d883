#pragma once

#include <string>

#include "hearth/kernels/gemm_tiles.h"

namespace hearth::kernels {

// oneDNN's product for one thread on one tile. All of the library's API is in gemm_onednn.cc, which compiles with
// its versions 2 and 3.
bool onednn_accepts(DType type, cpu::Isa isa);
void onednn_gemm(const GemmArgs& args);
void onednn_tile(const GemmTile& tile);
std::string onednn_version();
std::string onednn_isa();  // the instruction set the library works with after our cap

}  // namespace hearth::kernels
