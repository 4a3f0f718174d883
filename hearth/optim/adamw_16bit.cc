#include "hearth/optim/adamw_16bit.h"

namespace hearth::optim {

AdamW16Bit::AdamW16Bit(const OptimizerOptions& options, ParameterStore& parameters, std::span<const Interval> own)
    : AdamW(options, parameters, own, DType::bf16) {}

void AdamW16Bit::update_piece(const Piece& piece, double lr, float grad_scale) const {
  kernels::adamw_16bit(step_of(piece, lr, grad_scale), piece.begin, piece.size, piece.weights, piece.gradients,
                       piece.moments<BFloat16>(0), piece.moments<BFloat16>(1));
}

}  // namespace hearth::optim
