#pragma once

#include "hearth/kernels/attention.h"

namespace hearth::kernels {

// Attention in blocks with AVX512-BF16's products of pairs, for AMD, where they are twice as fast as f32's. Sums and
// softmax are f32; the probabilities and dS are rounded to bf16 before they are multiplied.
bool attention_bf16_accepts(const AttentionArgs&, cpu::Isa);
void attention_bf16_forward(const AttentionArgs&);
void attention_bf16_backward(const AttentionArgs&, const AttentionGradArgs&);

}  // namespace hearth::kernels
