#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hearth/base/arguments.h"

namespace hearth::tasks {

// ModelArguments of the run_*.py scripts, and which parameters to freeze.
struct ModelArguments {
  std::string model_name_or_path;  // a folder, or a name on the Hub; empty: the model starts from nothing
  std::optional<std::string> model_type;  // of a model that starts from nothing
  std::optional<std::string> config_name, tokenizer_name;
  std::optional<std::string> cache_dir, token;
  std::string model_revision = "main";
  std::optional<std::string> config_overrides;  // "hidden_dropout_prob=0,..."
  bool ignore_mismatched_sizes = false;
  std::vector<std::string> freeze;            // shell globs over Hugging Face parameter names
  std::optional<std::int64_t> freeze_layers;  // the embeddings and the first N layers
};

// Without --model_name_or_path a model starts from nothing, if the command may do that.
enum class ModelStart { pretrained, any };
void declare(Arguments& options, ModelArguments& arguments, ModelStart start = ModelStart::pretrained);
// Throws Error where neither --model_name_or_path is given nor what a new model needs.
void check_start(const ModelArguments& arguments);

}  // namespace hearth::tasks
