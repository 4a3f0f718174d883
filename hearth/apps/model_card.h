#pragma once

#include <optional>
#include <string>

#include "hearth/io/json.h"
#include "hearth/metrics/metrics.h"
#include "hearth/tasks/task.h"

namespace hearth::apps {

struct ModelCardFacts {
  tasks::TaskCard task;
  std::optional<std::string> base_model;     // its Hub id
  Metrics evaluation;                        // the metrics of the final evaluation; empty: there was none
  io::Json log_history = io::Json::array();  // of the run
  std::int64_t processes = 1;
};

// README.md of a model folder, in the layout of transformers' TrainingSummary: metadata for the Hub in YAML, scores,
// hyperparameters, and a table of the evaluations during training.
std::string model_card(const TrainingArguments& args, const ModelCardFacts& facts);

// The Hub id of the model that training starts from: the name it was loaded by, or what its config.json remembers
// (`remembered`, "_name_or_path"). None where both are paths of folders.
std::optional<std::string> hub_id(const std::string& name_or_path, const std::string& remembered);

}  // namespace hearth::apps
