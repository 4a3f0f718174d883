#pragma once

#include <cstdint>

#include "hearth/base/api.h"
#include "hearth/optim/optimizer.h"
#include "hearth/optim/schedule.h"

namespace hearth::optim {

// Sets the learning rate of an optimizer: that of update 0 at once, that of the next update with every step().
class HEARTH_API LrScheduler {
 public:
  LrScheduler(Optimizer& optimizer, const ScheduleOptions& options);

  void step();
  double lr() const { return optimizer_->lr(); }
  Optimizer& optimizer() const { return *optimizer_; }

 private:
  void set();

  Optimizer* optimizer_;
  ScheduleOptions options_;
  double initial_lr_;
  std::int64_t step_ = 0;
};

// transformers.get_linear_schedule_with_warmup
HEARTH_API LrScheduler linear_schedule_with_warmup(Optimizer& optimizer, std::int64_t warmup_steps,
                                                   std::int64_t training_steps);

}  // namespace hearth::optim
