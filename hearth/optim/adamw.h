#pragma once

#include "hearth/optim/moments.h"

namespace hearth::optim {

// torch.optim.AdamW: decoupled weight decay, bias correction, moments in f32.
class AdamW final : public Optimizer {
 public:
  AdamW(const OptimizerOptions& options, ParameterStore& parameters);
  State state() const override;

 private:
  void update(double lr, float grad_scale) override;

  OptimizerOptions options_;
  std::vector<Range> ranges_;
  Tensor first_, second_;  // moments, laid out like the parameters
};

}  // namespace hearth::optim
