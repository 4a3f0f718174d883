#include "hearth/autograd/backward_claim.h"

#include "hearth/base/check.h"

namespace hearth {

BackwardClaim::~BackwardClaim() {
  for (Parameter* parameter : claimed_) parameter->backward_thread.store({}, std::memory_order_release);
}

void BackwardClaim::add(Parameter& parameter) {
  const std::thread::id self = std::this_thread::get_id();
  std::thread::id owner;
  if (parameter.backward_thread.compare_exchange_strong(owner, self, std::memory_order_acquire)) {
    claimed_.push_back(&parameter);
  } else {
    check(owner == self,
          "[backward] another thread computes the gradient of {} at the same time: let one thread after the other run "
          "backward, or give each a model of its own",
          parameter.parts.front().name);
  }
}

}  // namespace hearth
