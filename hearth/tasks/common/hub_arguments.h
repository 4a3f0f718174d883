#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "hearth/base/arguments.h"

namespace hearth::tasks {

// What is uploaded when: the model at the end of the run, or at every checkpoint too; with it the last checkpoint, as
// the folder last-checkpoint, or every one.
enum class HubStrategy { end, every_save, checkpoint, all_checkpoints };
constexpr std::array<std::string_view, 4> names_of(HubStrategy) {
  return {"end", "every_save", "checkpoint", "all_checkpoints"};
}

// The part of the Trainer's TrainingArguments that concerns uploads.
struct HubArguments {
  bool push_to_hub = false, hub_always_push = false;
  std::optional<bool> hub_private_repo;
  std::optional<std::string> hub_model_id, hub_token, hub_revision;
  HubStrategy hub_strategy = HubStrategy::every_save;
};

void declare(Arguments& options, HubArguments& arguments);

}  // namespace hearth::tasks
