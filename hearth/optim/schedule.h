#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::optim {

// The Trainer's --lr_scheduler_type and its kwargs.
struct ScheduleOptions {
  std::string name = "linear";
  std::int64_t warmup_steps = 0, total_steps = 0;
  double num_cycles = -1;      // cosine: 0.5, cosine_with_restarts: 1 where not given
  double power = 1.0;          // polynomial
  double lr_end = 1e-7;        // polynomial, a learning rate
  std::int64_t timescale = 0;  // inverse_sqrt: warmup_steps, or 10,000, where not given
};

// What the initial learning rate is multiplied by in update number `step`, counted from 0. `initial_lr` matters to
// polynomial decay alone.
double schedule_factor(const ScheduleOptions& options, std::int64_t step, double initial_lr);

bool is_schedule(std::string_view name);

}  // namespace hearth::optim
