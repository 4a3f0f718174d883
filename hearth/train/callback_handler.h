#pragma once

#include <memory>
#include <vector>

#include "hearth/parallel/team.h"
#include "hearth/train/callbacks.h"

namespace hearth {

// Calls the callbacks of a Trainer and holds what they ask for. Without callbacks that make requests nothing is
// exchanged between ranks.
class CallbackHandler {
 public:
  CallbackHandler(std::vector<std::shared_ptr<TrainerCallback>> callbacks, parallel::Team team);

  void add(std::shared_ptr<TrainerCallback> callback);
  bool makes_requests() const;

  // Calls an event of every callback, in order.
  template <class... Parameters, class... Values>
  void call(void (TrainerCallback::*event)(const TrainingProgress&, TrainerControl&, Parameters...),
            const TrainingProgress& progress, const Values&... values) {
    for (const auto& callback : callbacks_) ((*callback).*event)(progress, control_, values...);
    called_ = makes_requests();
  }

  void begin_run() { control_ = {}, called_ = false; }  // withdraws what was asked for before
  // The requests of all ranks. Every rank calls it after the same events.
  const TrainerControl& requests();
  TrainerControl take_requests();  // the same, and withdraws them

 private:
  std::vector<std::shared_ptr<TrainerCallback>> callbacks_;
  parallel::Team team_;
  TrainerControl control_;
  bool called_ = false;  // since the ranks compared their requests
};

}  // namespace hearth
