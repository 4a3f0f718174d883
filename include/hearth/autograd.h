// Values and the tape that records a forward pass; parameters and their store.
#pragma once

#include "hearth/autograd/parameter.h"
#include "hearth/autograd/tape.h"
