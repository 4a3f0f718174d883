#pragma once

#include <array>
#include <string>
#include <vector>

#include "hearth/optim/moments.h"
#include "hearth/optim/used_rows.h"

namespace hearth::optim {

// An optimizer that updates each weight from its own gradient and moments alone, so it can be sharded. A subclass names
// its moments and updates one piece at a time.
class ElementwiseOptimizer : public Optimizer {
 public:
  State moments() const final;

 protected:
  // Consecutive elements of the arenas.
  struct Piece {
    std::int64_t size = 0;
    double weight_decay = 0;  // 0 for weights without decays()
    float* weights = nullptr;
    const float* gradients = nullptr;
    std::array<float*, 2> moments{};  // null where the optimizer has fewer
  };

  // The moments start at `initial_moment`.
  ElementwiseOptimizer(const OptimizerOptions& options, ParameterStore& parameters, std::span<const Interval> own,
                       const std::vector<std::string>& moment_names, double initial_moment = 0);
  // Called by several threads at a time, with pieces that do not overlap.
  virtual void update_piece(const Piece& piece, double lr, float grad_scale) const = 0;

  const OptimizerOptions options_;

 private:
  void update(double lr, float grad_scale) final;

  std::vector<Range> ranges_;
  State moments_;
  mutable UsedRows used_rows_;
};

}  // namespace hearth::optim
