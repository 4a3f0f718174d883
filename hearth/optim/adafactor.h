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
  // The state of a matrix, or of a vector as one row with a moment per element.
  struct Slot {
    Parameter* parameter = nullptr;
    const Parameter::Part* part = nullptr;
    Tensor rows, cols;                            // of a matrix
    Tensor full;                                  // of a vector
    std::size_t first_chunk = 0, end_chunk = 0;   // of chunks_
    std::vector<float> row_factors, col_factors;  // factors of the gradient
    float scale = 0;                              // factor of the update: learning rate and clipping
  };
  // Rows of a slot, computed by one thread. The sums of chunks are added in order, so the bits repeat.
  struct Chunk {
    std::size_t slot;
    std::int64_t begin, end;
    std::vector<double> col_sums;
    double squares = 0;
  };

  void update(double lr, float grad_scale) override;
  void take_moments(Chunk& chunk, float grad_scale, float beta2);
  void find_factors(Slot& slot, float beta2);
  void find_scale(Slot& slot, double lr) const;
  // Calls use(weight, step) for every element of the chunk.
  template <class Use>
  void for_steps(const Chunk& chunk, float grad_scale, const Use& use) const;

  OptimizerOptions options_;
  std::vector<Slot> slots_;
  std::vector<Chunk> chunks_;
};

}  // namespace hearth::optim
