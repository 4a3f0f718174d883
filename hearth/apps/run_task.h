#pragma once

#include <span>
#include <string>

#include "hearth/tasks/task.h"

namespace hearth::apps {

// Runs a training command: parses its flags, joins the other ranks, loads tokenizer, data and model, trains, evaluates,
// predicts, and writes model, results and model card. `words` follow the command's name.
int run_task(const tasks::TaskCommand& command, std::span<const std::string> words);

}  // namespace hearth::apps
