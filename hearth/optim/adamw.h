#pragma once

#include "hearth/optim/moments.h"

namespace hearth::optim {

// torch.optim.AdamW: decoupled weight decay, bias correction, moments in f32.
class AdamW final : public Optimizer {
 public:
  AdamW(const OptimizerOptions& options, ParameterStore& parameters, std::span<const Interval> own);
  State moments() const override;

 private:
  void update(double lr, float grad_scale) override;

  OptimizerOptions options_;
  std::vector<Range> ranges_;
  Tensor first_, second_;
};

}  // namespace hearth::optim
