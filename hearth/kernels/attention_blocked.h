#pragma once

#include "hearth/kernels/attention.h"

namespace hearth::kernels {

// Attention in blocks with vectors of f32, AVX2 or AVX-512. All arithmetic is f32; numbers are rounded to bf16 or fp16
// only where out, dq, dk and dv are stored.
bool attention_blocked_accepts(const AttentionArgs&, cpu::Isa);
void attention_blocked_forward(const AttentionArgs&);
void attention_blocked_backward(const AttentionArgs&, const AttentionGradArgs&);

}  // namespace hearth::kernels
