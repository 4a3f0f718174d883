#pragma once

#include "hearth/kernels/attention/attention.h"

namespace hearth::kernels {

// Plain loops in double: the definition that the fast kernels are tested against.
void attention_reference_forward(const AttentionArgs&);
void attention_reference_backward(const AttentionArgs&, const AttentionGradArgs&);

}  // namespace hearth::kernels
