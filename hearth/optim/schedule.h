#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hearth/base/api.h"

namespace hearth::optim {

// A schedule: its name in the Trainer, and the names of its settings in --lr_scheduler_kwargs.
struct ScheduleKind {
  std::string name;
  std::vector<std::string> settings;
};

// All schedules. The last one depends on evaluation metrics (see Plateau), the others on the number of the update.
HEARTH_API const std::vector<ScheduleKind>& schedule_kinds();
HEARTH_API std::vector<std::string> schedule_names();

// The Trainer's --lr_scheduler_type and its kwargs.
struct ScheduleOptions {
  std::string name = "linear";
  std::int64_t warmup_steps = 0, total_steps = 0;
  double num_cycles = -1;      // 0.5 where not given, 1 for cosine_with_restarts
  double power = 1.0;          // polynomial
  double lr_end = 1e-7;        // polynomial, a learning rate
  std::int64_t timescale = 0;  // inverse_sqrt: warmup_steps, or 10,000, where not given
  double min_factor = 0;       // cosine_with_min_lr, warmup_stable_decay
  // warmup_stable_decay. By default all steps between warm-up and decay are stable. Types: linear, cosine, 1-sqrt.
  std::optional<std::int64_t> num_decay_steps = {}, num_stable_steps = {};
  std::string warmup_type = "linear", decay_type = "cosine";
};

// The factor of the initial learning rate in update number `step`, from 0. Only polynomial decay uses `initial_lr`.
HEARTH_API double schedule_factor(const ScheduleOptions& options, std::int64_t step, double initial_lr);

}  // namespace hearth::optim
