// Tensors, shapes, dtypes, and the packed batch that models read.
#pragma once

#include "hearth/base/dtype.h"
#include "hearth/base/error.h"
#include "hearth/tensor/batch.h"
#include "hearth/tensor/shape.h"
#include "hearth/tensor/tensor.h"
