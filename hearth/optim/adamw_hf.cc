#include "hearth/optim/adamw_hf.h"

#include <cmath>

namespace hearth::optim {

void AdamWHf::update_piece(const Piece& piece, double lr, float grad_scale) const {
  kernels::AdamWStep step = step_of(piece, lr, grad_scale);
  step.eps = options_.eps / std::sqrt(1 - std::pow(options_.beta2, static_cast<double>(steps_)));
  step.update_scale = 1 - lr * piece.weight_decay;  // (p - update) * decay is p * decay - update * decay
  kernels::adamw(step, piece.size, piece.weights, piece.gradients, piece.moments<float>(0), piece.moments<float>(1));
}

}  // namespace hearth::optim
