#pragma once

#include "hearth/optim/adamw.h"

namespace hearth::optim {

// The AdamW of transformers before 4.50, when --optim adamw_hf was removed: eps is added to sqrt(v) before the bias
// correction, and weight decay applies to the updated weight. A command line with adamw_hf computes what it did then.
class AdamWHf final : public AdamW {
 public:
  using AdamW::AdamW;

 private:
  void update_piece(const Piece& piece, double lr, float grad_scale) const override;
};

}  // namespace hearth::optim
