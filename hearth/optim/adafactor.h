#pragma once

#include "hearth/optim/optimizer.h"

namespace hearth::optim {

// Adafactor (Shazeer and Stern, 2018) with the settings the Trainer uses: the learning rate as given
// (scale_parameter and relative_step off), no first moment, eps 1e-30, clipping at 1, decay rate -0.8. The second
// moment of a matrix is kept as its row and column means.
class Adafactor final : public Optimizer {
 public:
  Adafactor(const OptimizerOptions& options, ParameterStore& parameters);
  State state() const override;

 private:
  struct Slot {
    Parameter* parameter;
    const Parameter::Part* part;
    Tensor rows, cols;  // of a matrix
    Tensor full;        // of a vector
  };

  void update(double lr, float grad_scale) override;
  void update_slot(const Slot& slot, double lr, float grad_scale, float beta2) const;

  OptimizerOptions options_;
  std::vector<Slot> slots_;
};

}  // namespace hearth::optim
