// All of Hearth.
#pragma once

#include "hearth/autograd.h"     // IWYU pragma: export
#include "hearth/data.h"         // IWYU pragma: export
#include "hearth/distributed.h"  // IWYU pragma: export
#include "hearth/hub.h"          // IWYU pragma: export
#include "hearth/models.h"       // IWYU pragma: export
#include "hearth/nn.h"           // IWYU pragma: export
#include "hearth/ops.h"          // IWYU pragma: export
#include "hearth/optim.h"        // IWYU pragma: export
#include "hearth/runtime.h"      // IWYU pragma: export
#include "hearth/tensor.h"       // IWYU pragma: export
#include "hearth/tokenizers.h"   // IWYU pragma: export
#include "hearth/train.h"        // IWYU pragma: export
