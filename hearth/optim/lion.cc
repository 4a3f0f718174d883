#include "hearth/optim/lion.h"

#include "hearth/kernels/update/optimizer.h"

namespace hearth::optim {

Lion::Lion(const OptimizerOptions& options, ParameterStore& parameters, std::span<const Interval> own)
    : ElementwiseOptimizer(options, parameters, own, {"exp_avg"}) {}

void Lion::update_piece(const Piece& piece, double lr, float grad_scale) const {
  kernels::LionStep step;
  step.lr = lr;
  step.beta1 = options_.beta1;
  step.beta2 = options_.beta2;
  step.weight_decay = piece.weight_decay;
  step.grad_scale = grad_scale;
  kernels::lion(step, piece.size, piece.weights, piece.gradients, piece.moments<float>(0));
}

}  // namespace hearth::optim
