#include "hearth/optim/rmsprop.h"

#include "hearth/kernels/update/optimizer.h"

namespace hearth::optim {

RmsProp::RmsProp(const OptimizerOptions& options, ParameterStore& parameters, std::span<const Interval> own)
    : ElementwiseOptimizer(options, parameters, own,
                           options.args.at("momentum") != 0 ? std::vector<std::string>{"square_avg", "momentum_buffer"}
                                                            : std::vector<std::string>{"square_avg"}) {}

void RmsProp::update_piece(const Piece& piece, double lr, float grad_scale) const {
  kernels::RmsPropStep step;
  step.lr = lr;
  step.alpha = options_.args.at("alpha");
  step.eps = options_.args.at("eps");
  step.momentum = options_.args.at("momentum");
  step.weight_decay = piece.weight_decay;
  step.grad_scale = grad_scale;
  kernels::rmsprop(step, piece.size, piece.weights, piece.gradients, piece.moments<float>(0), piece.moments<float>(1));
}

}  // namespace hearth::optim
