#pragma once

#include "hearth/kernels/update/optimizer.h"
#include "hearth/optim/elementwise.h"

namespace hearth::optim {

// torch.optim.AdamW: decoupled weight decay, bias correction, moments in f32.
class AdamW : public ElementwiseOptimizer {
 public:
  AdamW(const OptimizerOptions& options, ParameterStore& parameters, std::span<const Interval> own)
      : AdamW(options, parameters, own, DType::f32) {}

 protected:
  // For a variant with moments of another dtype, whose update_piece reads them.
  AdamW(const OptimizerOptions& options, ParameterStore& parameters, std::span<const Interval> own, DType moment_type);
  kernels::AdamWStep step_of(const Piece& piece, double lr, float grad_scale) const;
  void update_piece(const Piece& piece, double lr, float grad_scale) const override;
};

}  // namespace hearth::optim
