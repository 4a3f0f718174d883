#pragma once

#include "hearth/kernels/attention/attention.h"

namespace hearth::kernels {

// Blocked attention with f32 vectors, AVX2 or AVX-512. All arithmetic is f32; bf16 and fp16 results are rounded only
// when out, dq, dk and dv are stored.
bool attention_blocked_accepts(const AttentionArgs&, cpu::Isa);
void attention_blocked_forward(const AttentionArgs&);
void attention_blocked_backward(const AttentionArgs&, const AttentionGradArgs&);

}  // namespace hearth::kernels
