#pragma once

#include <vector>

#include "hearth/base/api.h"
#include "hearth/ops/context.h"

namespace hearth::ops {

struct Lookup {
  Parameter* table = nullptr;     // (rows, H)
  std::vector<std::int32_t> ids;  // (T)
  std::int32_t padding_id = -1;   // this row gets no gradient
};

// y (T, H) = the sum of the rows that the lookups name, rounded once to the compute dtype.
HEARTH_API Var embedding_sum(Context& ctx, std::vector<Lookup> lookups);

}  // namespace hearth::ops
