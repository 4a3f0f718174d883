#include "hearth/optim/adagrad.h"

#include "hearth/kernels/update/optimizer.h"

namespace hearth::optim {

Adagrad::Adagrad(const OptimizerOptions& options, ParameterStore& parameters, std::span<const Interval> own)
    : ElementwiseOptimizer(options, parameters, own, {"sum"}, options.args.at("initial_accumulator_value")) {}

void Adagrad::update_piece(const Piece& piece, double lr, float grad_scale) const {
  kernels::AdagradStep step;
  step.lr = lr / (1 + static_cast<double>(steps_ - 1) * options_.args.at("lr_decay"));
  step.eps = options_.args.at("eps");
  step.weight_decay = piece.weight_decay;
  step.grad_scale = grad_scale;
  kernels::adagrad(step, piece.size, piece.weights, piece.gradients, piece.moments<float>(0));
}

}  // namespace hearth::optim
