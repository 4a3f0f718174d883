#pragma once

#include "hearth/tensor/tensor.h"

namespace hearth::bench {

// Fills it with numbers from -1 to 1: one block of random ones, again and again.
void fill_randomly(const Tensor& tensor);

}  // namespace hearth::bench
