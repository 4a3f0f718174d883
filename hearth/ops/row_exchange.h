#pragma once

#include "hearth/base/api.h"
#include "hearth/ops/context.h"

namespace hearth::ops {

// The ranks whose rows an op reads together. Every rank calls the same functions in the same order.
class RowExchange {
 public:
  virtual ~RowExchange() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual Tensor gathered(const Tensor& own) const = 0;         // (M, N) f32 of each rank -> (size M, N) in rank order
  virtual Tensor sum_of_own(const Tensor& gathered) const = 0;  // the sum over the ranks of this rank's rows
};

// The rows of all ranks; the gradient of a rank's rows is the sum over all ranks.
HEARTH_API Var gather_rows(Context& ctx, const Var& x, const RowExchange& exchange);

}  // namespace hearth::ops
