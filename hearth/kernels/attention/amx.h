#pragma once

#include "hearth/kernels/attention/attention.h"

namespace hearth::kernels {

// Blocked attention with AMX bf16 tiles. Sums and softmax are f32. The probabilities (before the division by their sum)
// and dS are rounded to bf16 before they are multiplied.
bool attention_amx_accepts(const AttentionArgs&, cpu::Isa);
void attention_amx_forward(const AttentionArgs&);
void attention_amx_backward(const AttentionArgs&, const AttentionGradArgs&);

}  // namespace hearth::kernels
