#pragma once

#include "hearth/autograd/parameter.h"
#include "hearth/parallel/team.h"

namespace hearth::parallel {

// All members get the weights of rank 0. Frozen ones are sent, too, and take rank 0's dtype: a folder that only rank 0
// has read may hold other values of them than the model had before.
void broadcast_weights(ParameterStore& parameters, const Team& team);

}  // namespace hearth::parallel
