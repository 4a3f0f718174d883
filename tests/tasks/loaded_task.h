// Tasks whose data is loaded as the runner loads it, without a model.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "hearth/models/family.h"
#include "hearth/models/pretrained.h"
#include "hearth/tasks/run_arguments.h"
#include "hearth/tasks/task.h"
#include "hearth/tokenizer/tokenizer.h"
#include "tests/support.h"

namespace hearth::tasks {

inline std::vector<std::string> words_in(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// Parses the flags of a command and loads the data of its task. `model` is a folder with config.json and a tokenizer.
template <class T>
class LoadedTask {
 public:
  LoadedTask(std::string_view command, const std::filesystem::path& model, const std::string& flags)
      : config_(models::load_config(model)),
        args_(
            parse_run_arguments(task_command(command), task_,
                                words_in("--model_name_or_path " + model.string() + " --disable_tqdm True " + flags))) {
    const nn::TransformerConfig transformer = models::transformer_config(config_);
    task_.load({args_.training, tokenizer::load_tokenizer(model), model, config_, transformer.max_tokens(),
                transformer.vocab_size, parallel::Team()});
  }

  T* operator->() { return &task_; }

 private:
  T task_;
  models::Config config_;
  RunArguments args_;
};

}  // namespace hearth::tasks
