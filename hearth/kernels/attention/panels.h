#pragma once

#include "hearth/kernels/attention/attention.h"

namespace hearth::kernels {

// Blocked attention on packed panels (gemm/panel_product-inl.h has the terms). Sums and softmax are f32. In bf16 the
// probabilities (before the division by their sum) and dS are rounded to bf16 before they are multiplied. In fp16,
// which takes AMX, each operand, these two included, is the sum of two bf16 parts; of the four products of parts the
// smallest is left out. On AMX, forward keeps dropout's masks for backward.
bool attention_amx_accepts(const AttentionArgs&, cpu::Isa);
void attention_amx_forward(const AttentionArgs&);
void attention_amx_backward(const AttentionArgs&, const AttentionGradArgs&);

bool attention_avx512_bf16_accepts(const AttentionArgs&, cpu::Isa);
void attention_avx512_bf16_forward(const AttentionArgs&);
void attention_avx512_bf16_backward(const AttentionArgs&, const AttentionGradArgs&);

std::int64_t attention_amx_mask_bytes(const AttentionArgs&);

}  // namespace hearth::kernels
