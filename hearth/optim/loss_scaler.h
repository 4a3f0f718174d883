#pragma once

#include <cstdint>

#include "hearth/base/api.h"

namespace hearth::optim {

// Dynamic loss scaling as in torch.amp.GradScaler: the loss is multiplied by `scale` so that small gradients survive in
// fp16. A step whose gradients overflow is skipped and halves the scale; 2,000 good steps in a row double it.
class HEARTH_API LossScaler {
 public:
  static constexpr float kInitialScale = 65536.0f, kGrowth = 2.0f, kBackoff = 0.5f;
  static constexpr std::int64_t kGrowthInterval = 2000;

  // A disabled scaler keeps the scale 1 and accepts every step.
  explicit LossScaler(bool enabled) : enabled_(enabled), scale_(enabled ? kInitialScale : 1.0f) {}

  bool enabled() const { return enabled_; }
  float scale() const { return scale_; }
  std::int64_t good_steps() const { return good_steps_; }
  std::int64_t skipped() const { return skipped_; }

  // Updates the scale from a step's gradient norm. False: the step must be skipped.
  bool accept(double grad_norm);

  void restore(float scale, std::int64_t good_steps, std::int64_t skipped);

 private:
  bool enabled_;
  float scale_;
  std::int64_t good_steps_ = 0, skipped_ = 0;
};

}  // namespace hearth::optim
