#include "hearth/optim/lr_scheduler.h"

namespace hearth::optim {

LrScheduler::LrScheduler(Optimizer& optimizer, const ScheduleOptions& options)
    : optimizer_(&optimizer), options_(options), initial_lr_(optimizer.lr()) {
  set();
}

void LrScheduler::step() {
  ++step_;
  set();
}

void LrScheduler::set() { optimizer_->set_lr(initial_lr_ * schedule_factor(options_, step_, initial_lr_)); }

LrScheduler linear_schedule_with_warmup(Optimizer& optimizer, std::int64_t warmup_steps, std::int64_t training_steps) {
  return {optimizer, {.name = "linear", .warmup_steps = warmup_steps, .total_steps = training_steps}};
}

}  // namespace hearth::optim
