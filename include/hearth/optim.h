// Optimizers and learning-rate schedules.
#pragma once

#include "hearth/optim/loss_scaler.h"
#include "hearth/optim/lr_scheduler.h"
#include "hearth/optim/optimizer.h"
#include "hearth/optim/schedule.h"

namespace hearth {

using optim::LrScheduler, optim::Optimizer;

}  // namespace hearth
