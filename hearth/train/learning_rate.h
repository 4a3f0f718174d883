#pragma once

#include <cstdint>
#include <optional>

#include "hearth/metrics/metrics.h"
#include "hearth/optim/plateau.h"
#include "hearth/optim/schedule.h"
#include "hearth/train/training_arguments.h"

namespace hearth {

// The learning rate of each update: by the schedule, or by the evaluations with reduce_lr_on_plateau.
class LearningRate {
 public:
  LearningRate(const TrainingArguments& args, std::int64_t max_steps);

  double after(std::int64_t updates) const;  // of the update that follows so many others
  void take(const Metrics& evaluation);
  optim::Plateau* plateau() { return plateau_ ? &*plateau_ : nullptr; }  // null: a schedule decides
  // Warns where reduce_lr_on_plateau and the choice of the best model want opposite things.
  void warn_of_opposite_mode() const;

 private:
  const TrainingArguments& args_;
  optim::ScheduleOptions schedule_;
  std::optional<optim::Plateau> plateau_;
};

}  // namespace hearth
