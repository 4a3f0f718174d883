#pragma once

#include "hearth/autograd/parameter.h"

namespace hearth::ops {

// The parameter in the format `type`: the master itself for f32, else a copy that is refreshed when the master changed.
Tensor weight_in(Parameter& parameter, DType type);

}  // namespace hearth::ops
