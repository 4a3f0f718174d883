#include "hearth/optim/sgd.h"

#include "hearth/kernels/update/optimizer.h"

namespace hearth::optim {

Sgd::Sgd(const OptimizerOptions& options, ParameterStore& parameters, std::span<const Interval> own)
    : ElementwiseOptimizer(options, parameters, own,
                           options.args.at("momentum") != 0 ? std::vector<std::string>{"momentum_buffer"}
                                                            : std::vector<std::string>{}) {}

void Sgd::update_piece(const Piece& piece, double lr, float grad_scale) const {
  kernels::SgdStep step;
  step.lr = lr;
  step.momentum = options_.args.at("momentum");
  step.weight_decay = piece.weight_decay;
  step.grad_scale = grad_scale;
  step.first = steps_ == 1;
  kernels::sgd(step, piece.size, piece.weights, piece.gradients, piece.moments<float>(0));
}

}  // namespace hearth::optim
