#pragma once

#include "hearth/optim/moments.h"

namespace hearth::optim {

// torch.optim.SGD, with momentum where asked for.
class Sgd final : public Optimizer {
 public:
  Sgd(const OptimizerOptions& options, ParameterStore& parameters, std::span<const Interval> own);
  State moments() const override;

 private:
  void update(double lr, float grad_scale) override;

  OptimizerOptions options_;
  std::vector<Range> ranges_;
  Tensor momentum_;  // undefined without momentum
};

}  // namespace hearth::optim
