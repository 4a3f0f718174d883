#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hearth/base/arguments.h"
#include "hearth/tasks/common/hub_arguments.h"
#include "hearth/tasks/common/model_arguments.h"
#include "hearth/tasks/task.h"
#include "hearth/train/training_arguments.h"

namespace hearth::tasks {

// The command line of a training command, without the flags that the task keeps for itself.
struct RunArguments {
  ModelArguments model;
  TrainingArguments training;
  HubArguments hub;
  std::optional<std::string> help;            // asked for: its text; nothing else is set then
  std::vector<Arguments::Resolved> resolved;  // all flags, those of the task too
  std::vector<std::string> notices;           // of ignored flags, to be logged
};

// The flags of a training command: those of its model, its task, its training and its uploads.
void declare(Arguments& options, RunArguments& arguments, Task& task);

// Flags, or a file of options and flags. Throws UsageError.
RunArguments parse_run_arguments(const TaskCommand& command, Task& task, std::span<const std::string> words);

}  // namespace hearth::tasks
