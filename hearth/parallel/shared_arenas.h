#pragma once

#include <memory>
#include <span>
#include <vector>

#include "hearth/autograd/parameter.h"
#include "hearth/base/api.h"
#include "hearth/optim/optimizer.h"
#include "hearth/parallel/team.h"

namespace hearth::parallel {

// The arenas of a model in memory that the ranks of one host share: the gradients of each rank, which the others read,
// and, if asked for, one array of master weights that all ranks use. Each rank then updates its part of that array, and
// nothing is sent. Each rank has weights of its own again when its SharedArenas end.
class HEARTH_API SharedArenas {
 public:
  // Moves the arenas of `parameters` there; shared weights are those of rank 0. Null if the team cannot share memory.
  // Every rank must call it.
  static std::unique_ptr<SharedArenas> make(ParameterStore& parameters, const Team& team, bool with_weights);
  ~SharedArenas();
  SharedArenas(const SharedArenas&) = delete;
  SharedArenas& operator=(const SharedArenas&) = delete;

  bool has_weights() const { return has_weights_; }

  // This rank's gradients in the intervals become the sums over the ranks, added in the order of ranks, or those of
  // `rank`.
  void sum(std::span<const optim::Interval> intervals) const;
  void copy_from(int rank, std::span<const optim::Interval> intervals) const;

 private:
  SharedArenas(ParameterStore& parameters, bool has_weights) : parameters_(parameters), has_weights_(has_weights) {}

  ParameterStore& parameters_;
  const bool has_weights_;
  std::vector<const float*> gradients_;  // by rank
  float* own_ = nullptr;
};

}  // namespace hearth::parallel
