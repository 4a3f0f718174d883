#pragma once

#include "hearth/kernels/attention/attention.h"

namespace hearth::kernels {

// Blocked attention with vdpbf16ps (AVX512-BF16), for AMD, where it is twice as fast as f32. Sums and softmax are f32;
// probabilities and dS are rounded to bf16 before they are multiplied.
bool attention_bf16_accepts(const AttentionArgs&, cpu::Isa);
void attention_bf16_forward(const AttentionArgs&);
void attention_bf16_backward(const AttentionArgs&, const AttentionGradArgs&);

}  // namespace hearth::kernels
