#pragma once

#include "hearth/base/check.h"
#include "hearth/base/dtype.h"

namespace hearth::kernels {

// Calls visitor(T()) with the C++ type T of the dtype.
template <class Visitor>
void visit_float(DType type, const Visitor& visitor) {
  switch (type) {
    case DType::f32:
      return visitor(float());
    case DType::bf16:
      return visitor(BFloat16());
    case DType::f16:
      return visitor(Float16());
    default:
      fail("[kernels] kernels do not compute in {}; use fp32, bf16 or fp16", name_of(type));
  }
}

}  // namespace hearth::kernels
