#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "hearth/apps/command.h"
#include "hearth/base/log.h"
#include "hearth/base/terminal.h"
#include "hearth/train/progress.h"

namespace hearth::apps {

std::span<const Command> commands() {
  static constexpr std::array all{
      Command{"run_qa", "fine-tune a model for question answering, evaluate it, predict answers", run_qa},
      Command{"ask", "ask a fine-tuned model questions about a text", ask},
      Command{"train_tokenizer", "train a WordPiece tokenizer on text files", train_tokenizer},
      Command{"init_model", "create a model with random weights from a config.json and a tokenizer", init_model},
      Command{"verify", "compare this build with reference results of PyTorch and transformers", verify},
      Command{"bench", "benchmark training steps, kernels, the tokenizer and communication", bench},
      Command{"config", "answer questions about your machines, for `hearth launch`", config},
      Command{"launch", "run a command, a Python script or a program in several processes, each on its own cores",
              launch},
      Command{"test", "check that the processes of your configuration can train together", test},
      Command{"estimate-memory", "estimate the memory that training a model needs", estimate_memory},
      Command{"env", "describe this machine and this build, for a bug report", env},
  };
  return all;
}

void print_error(const std::string& sentence) {
  Progress::print_line(STDERR_FILENO, highlighted("hearth: error: " + sentence, STDERR_FILENO));
}

bool parse_or_print_help(Arguments& arguments, std::span<const std::string> words) {
  arguments.parse(words);
  if (arguments.wants_help()) {
    fmt::print("{}", arguments.help());
    return false;
  }
  for (const std::string& notice : arguments.notices()) log_info("{}", notice);
  return true;
}

}  // namespace hearth::apps
