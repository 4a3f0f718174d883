#pragma once

#include "hearth/optim/elementwise.h"

namespace hearth::optim {

// torch.optim.SGD, with momentum where asked for.
class Sgd final : public ElementwiseOptimizer {
 public:
  Sgd(const OptimizerOptions& options, ParameterStore& parameters, std::span<const Interval> own);

 private:
  void update_piece(const Piece& piece, double lr, float grad_scale) const override;
};

}  // namespace hearth::optim
