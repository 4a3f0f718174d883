#pragma once

#include "hearth/tensor/tensor.h"

namespace hearth::bench {

// Fills the tensor with numbers from -1 to 1: one random block, repeated.
void fill_randomly(const Tensor& tensor);

}  // namespace hearth::bench
