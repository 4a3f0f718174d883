#pragma once

#include "hearth/kernels/attention/attention.h"

namespace hearth::kernels {

// Attention on packed panels with the arithmetic of AMX in plain C++: its packing, padding and order of work on any
// processor with AVX512-BF16.
const AttentionImpl& emulated_attention();
// The same on vectors of AVX512-BF16, also on processors that have something faster.
const AttentionImpl& vector_attention();

}  // namespace hearth::kernels
