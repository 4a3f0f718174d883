#include "hearth/optim/adamw_hf.h"

#include <cmath>

#include "hearth/kernels/update/optimizer.h"

namespace hearth::optim {

AdamWHf::AdamWHf(const OptimizerOptions& options, ParameterStore& parameters, std::span<const Interval> own)
    : ElementwiseOptimizer(options, parameters, own, {"exp_avg", "exp_avg_sq"}) {}

void AdamWHf::update_piece(const Piece& piece, double lr, float grad_scale) const {
  kernels::AdamWStep step;
  step.lr = lr;
  step.beta1 = options_.beta1;
  step.beta2 = options_.beta2;
  step.eps = options_.eps / std::sqrt(1 - std::pow(options_.beta2, static_cast<double>(steps_)));
  step.weight_decay = piece.weight_decay;
  step.update_scale = 1 - lr * piece.weight_decay;  // (p - update) * decay is p * decay - update * decay
  step.step = steps_;
  step.grad_scale = grad_scale;
  kernels::adamw(step, piece.size, piece.weights, piece.gradients, piece.moments[0], piece.moments[1]);
}

}  // namespace hearth::optim
