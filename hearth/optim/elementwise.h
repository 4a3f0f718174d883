#pragma once

#include <array>
#include <cstddef>
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
    std::int64_t begin = 0;  // index of the first one
    std::int64_t size = 0;
    double weight_decay = 0;  // 0 for weights without decays()
    float* weights = nullptr;
    const float* gradients = nullptr;
    std::array<void*, 2> moment_arrays{};

    // T is the C++ type of the moments' dtype. Null if the optimizer has fewer moments.
    template <class T>
    T* moments(std::size_t i) const {
      return static_cast<T*>(moment_arrays[i]);
    }
  };

  // The moments start at `initial_moment` and are stored in `moment_type`, a dtype of floating-point numbers.
  ElementwiseOptimizer(const OptimizerOptions& options, ParameterStore& parameters, std::span<const Interval> own,
                       const std::vector<std::string>& moment_names, double initial_moment = 0,
                       DType moment_type = DType::f32);
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
