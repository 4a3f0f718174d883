#include "hearth/train/callback_handler.h"

#include <algorithm>
#include <array>
#include <utility>

#include "hearth/base/check.h"

namespace hearth {

CallbackHandler::CallbackHandler(std::vector<std::shared_ptr<TrainerCallback>> callbacks, parallel::Team team)
    : team_(std::move(team)) {
  for (auto& callback : callbacks) add(std::move(callback));
}

void CallbackHandler::add(std::shared_ptr<TrainerCallback> callback) {
  check(callback != nullptr, "[Trainer] a callback is null");
  callbacks_.push_back(std::move(callback));
}

bool CallbackHandler::makes_requests() const {
  return std::ranges::any_of(callbacks_, [](const auto& callback) { return callback->makes_requests(); });
}

const TrainerControl& CallbackHandler::requests() {
  if (std::exchange(called_, false) && team_.size() > 1) {
    const std::array members{&control_.should_training_stop, &control_.should_evaluate, &control_.should_save,
                             &control_.should_log};
    std::array<std::int32_t, members.size()> any{};
    for (std::size_t i = 0; i < any.size(); ++i) any[i] = *members[i] ? 1 : 0;
    team_.group().all_reduce(any.data(), any.size(), DType::i32, comm::ReduceOp::max)->wait();
    for (std::size_t i = 0; i < any.size(); ++i) *members[i] = any[i] != 0;
  }
  return control_;
}

TrainerControl CallbackHandler::take_requests() {
  requests();
  return std::exchange(control_, {});
}

}  // namespace hearth
