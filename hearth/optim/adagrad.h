#pragma once

#include "hearth/optim/elementwise.h"

namespace hearth::optim {

// torch.optim.Adagrad.
class Adagrad final : public ElementwiseOptimizer {
 public:
  Adagrad(const OptimizerOptions& options, ParameterStore& parameters, std::span<const Interval> own);

 private:
  void update_piece(const Piece& piece, double lr, float grad_scale) const override;
};

}  // namespace hearth::optim
