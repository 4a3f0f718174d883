#pragma once

#include <vector>

#include "hearth/autograd/parameter.h"

namespace hearth {

// Parameters whose gradients this thread alone computes while the claim lives. The inner passes of gradient
// checkpointing claim them again, on the same thread.
class BackwardClaim {
 public:
  BackwardClaim() = default;
  ~BackwardClaim();
  BackwardClaim(const BackwardClaim&) = delete;
  BackwardClaim& operator=(const BackwardClaim&) = delete;

  void add(Parameter& parameter);  // an Error if another thread has claimed it

 private:
  std::vector<Parameter*> claimed_;
};

}  // namespace hearth
