#pragma once

#include "hearth/optim/elementwise.h"

namespace hearth::optim {

// torch.optim.RMSprop, with momentum where asked for, not centered.
class RmsProp final : public ElementwiseOptimizer {
 public:
  RmsProp(const OptimizerOptions& options, ParameterStore& parameters, std::span<const Interval> own);

 private:
  void update_piece(const Piece& piece, double lr, float grad_scale) const override;
};

}  // namespace hearth::optim
