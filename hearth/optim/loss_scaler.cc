#include "hearth/optim/loss_scaler.h"

#include <cmath>

namespace hearth::optim {

bool LossScaler::accept(double grad_norm) {
  if (!enabled_) return true;
  if (!std::isfinite(grad_norm)) {
    scale_ *= kBackoff;
    good_steps_ = 0;
    ++skipped_;
    return false;
  }
  if (++good_steps_ == kGrowthInterval) {
    if (const float grown = scale_ * kGrowth; std::isfinite(grown)) scale_ = grown;
    good_steps_ = 0;
  }
  return true;
}

void LossScaler::restore(float scale, std::int64_t good_steps, std::int64_t skipped) {
  scale_ = scale;
  good_steps_ = good_steps;
  skipped_ = skipped;
}

}  // namespace hearth::optim
