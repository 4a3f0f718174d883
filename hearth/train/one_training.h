#pragma once

#include "hearth/parallel/team.h"

namespace hearth {

// Lives as long as a Trainer trains. A process trains one model at a time, because a run uses all compute threads; an
// Error if it trains another one already. Ranks of one job may be threads of one process.
class OneTraining {
 public:
  explicit OneTraining(const parallel::Team& team);
  ~OneTraining();
  OneTraining(const OneTraining&) = delete;
  OneTraining& operator=(const OneTraining&) = delete;

 private:
  int rank_;
};

}  // namespace hearth
