#pragma once

#include <cstdint>

#include "hearth/optim/plateau.h"
#include "hearth/optim/schedule.h"
#include "hearth/train/training_arguments.h"

// --lr_scheduler_type with its --lr_scheduler_kwargs.
namespace hearth {

bool reduces_on_plateau(const TrainingArguments& args);

optim::ScheduleOptions schedule_options(const TrainingArguments& args, std::int64_t total_steps);
optim::Plateau make_plateau(const TrainingArguments& args);

// The Trainer's checks.
void check_schedule(const TrainingArguments& args);

}  // namespace hearth
