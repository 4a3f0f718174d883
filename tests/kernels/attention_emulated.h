#pragma once

#include "hearth/kernels/attention/attention.h"

namespace hearth::kernels {

// Attention on AMX with the tiles' arithmetic in plain C++: its packing, padding and order of work on any processor
// with AVX512-BF16.
const AttentionImpl& emulated_amx_attention();

}  // namespace hearth::kernels
