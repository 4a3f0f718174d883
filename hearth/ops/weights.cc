#include "hearth/ops/weights.h"

#include <algorithm>

#include "hearth/base/profiler.h"
#include "hearth/kernels/elementwise.h"

namespace hearth::ops {

Tensor weight_in(Parameter& parameter, DType type) {
  if (type == DType::f32) return parameter.master;
  const int kind = static_cast<int>(type);
  auto found = std::ranges::find(parameter.replicas, kind, &Replica::kind);
  if (found == parameter.replicas.end())
    found = parameter.replicas.insert(found, {kind, 0, Tensor(parameter.shape, type)});
  if (found->version != parameter.version) {
    const Span span("weight conversion");
    kernels::convert(DType::f32, parameter.master.raw(), type, found->value.raw(), parameter.shape.size());
    found->version = parameter.version;
  }
  return found->value;
}

}  // namespace hearth::ops
