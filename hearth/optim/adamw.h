#pragma once

#include "hearth/optim/elementwise.h"

namespace hearth::optim {

// torch.optim.AdamW: decoupled weight decay, bias correction, moments in f32.
class AdamW final : public ElementwiseOptimizer {
 public:
  AdamW(const OptimizerOptions& options, ParameterStore& parameters, std::span<const Interval> own);

 private:
  void update_piece(const Piece& piece, double lr, float grad_scale) const override;
};

}  // namespace hearth::optim
