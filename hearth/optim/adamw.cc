#include "hearth/optim/adamw.h"

#include "hearth/kernels/update/optimizer.h"

namespace hearth::optim {

AdamW::AdamW(const OptimizerOptions& options, ParameterStore& parameters, std::span<const Interval> own)
    : ElementwiseOptimizer(options, parameters, own, {"exp_avg", "exp_avg_sq"}) {}

void AdamW::update_piece(const Piece& piece, double lr, float grad_scale) const {
  kernels::AdamWStep step;
  step.lr = lr;
  step.beta1 = options_.beta1;
  step.beta2 = options_.beta2;
  step.eps = options_.eps;
  step.weight_decay = piece.weight_decay;
  step.step = steps_;
  step.grad_scale = grad_scale;
  kernels::adamw(step, piece.size, piece.weights, piece.gradients, piece.moments[0], piece.moments[1]);
}

}  // namespace hearth::optim
