#pragma once

#include "hearth/optim/adamw.h"

namespace hearth::optim {

// torch.optim.AdamW with moments in bf16, which are rounded at random (kernels/update/adamw_16bit.cc): half the memory,
// and 20 instead of 28 bytes per weight to read and write in an update.
class AdamW16Bit final : public AdamW {
 public:
  AdamW16Bit(const OptimizerOptions& options, ParameterStore& parameters, std::span<const Interval> own);

 private:
  void update_piece(const Piece& piece, double lr, float grad_scale) const override;
};

}  // namespace hearth::optim
