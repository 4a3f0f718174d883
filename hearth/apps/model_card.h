#pragma once

#include <string>

#include "hearth/io/json.h"
#include "hearth/tasks/qa_arguments.h"

namespace hearth::apps {

// README.md of a model folder: what the model was made of, with which settings, and how it did. `metrics` are those of
// the evaluation, none where there was none.
std::string model_card(const tasks::RunQaArguments& args, const io::Json& metrics);

}  // namespace hearth::apps
