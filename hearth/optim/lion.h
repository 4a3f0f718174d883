#pragma once

#include "hearth/optim/elementwise.h"

namespace hearth::optim {

// Lion (Chen et al., 2023) as in bitsandbytes, with 32-bit state.
class Lion final : public ElementwiseOptimizer {
 public:
  Lion(const OptimizerOptions& options, ParameterStore& parameters, std::span<const Interval> own);

 private:
  void update_piece(const Piece& piece, double lr, float grad_scale) const override;
};

}  // namespace hearth::optim
