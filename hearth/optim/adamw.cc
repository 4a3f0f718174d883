#include "hearth/optim/adamw.h"

namespace hearth::optim {

AdamW::AdamW(const OptimizerOptions& options, ParameterStore& parameters, std::span<const Interval> own,
             DType moment_type)
    : ElementwiseOptimizer(options, parameters, own, {"exp_avg", "exp_avg_sq"}, 0, moment_type) {}

kernels::AdamWStep AdamW::step_of(const Piece& piece, double lr, float grad_scale) const {
  kernels::AdamWStep step;
  step.lr = lr;
  step.beta1 = options_.beta1;
  step.beta2 = options_.beta2;
  step.eps = options_.eps;
  step.weight_decay = piece.weight_decay;
  step.step = steps_;
  step.grad_scale = grad_scale;
  return step;
}

void AdamW::update_piece(const Piece& piece, double lr, float grad_scale) const {
  kernels::adamw(step_of(piece, lr, grad_scale), piece.size, piece.weights, piece.gradients, piece.moments<float>(0),
                 piece.moments<float>(1));
}

}  // namespace hearth::optim
