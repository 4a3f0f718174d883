// Layers, and the Model that they make.
#pragma once

#include "hearth/nn/encoder.h"
#include "hearth/nn/layers.h"
#include "hearth/nn/model.h"
#include "hearth/nn/parameter_scope.h"

namespace hearth {

using nn::Model, nn::ModelOutput, nn::ParameterScope;

}  // namespace hearth
