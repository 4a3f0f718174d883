#pragma once

#include <array>
#include <vector>

#include "hearth/autograd/parameter.h"

namespace hearth {

// optimizer.pt has no names: it numbers the parameters of the Trainer's two groups, those with weight decay and those
// without, each in the order of PyTorch's named_parameters(). These are the groups, with names and shapes.
using TorchGroups = std::array<std::vector<Parameter::Part>, 2>;

// `as_version_5`: in the order of transformers 5, which differs from that of transformers 4 for RoBERTa alone.
TorchGroups torch_groups(const ParameterStore& parameters, bool as_version_5 = false);

}  // namespace hearth
