#include <array>

#include "hearth/apps/command.h"

namespace hearth::apps {

std::span<const Command> commands() {
  static constexpr std::array all{
      Command{"run_qa", "fine-tune a model for question answering, evaluate it, answer with it", run_qa},
      Command{"ask", "ask a fine-tuned model questions about a text", ask},
      Command{"train_tokenizer", "make a WordPiece vocabulary from text", train_tokenizer},
      Command{"init_model", "make a model with random weights from a config.json and a tokenizer", init_model},
      Command{"verify", "check this build against golden files of PyTorch and transformers", verify},
      Command{"bench", "time training steps, messages, matrix products, other kernels and the tokenizer", bench},
      Command{"config", "ask how to launch training, and write the answers to a file", config},
      Command{"launch", "start a command, a script or a program in many processes, each on its own cores", launch},
      Command{"test", "check that the configured processes can train together", test},
      Command{"estimate-memory", "say what training a model will need", estimate_memory},
      Command{"env", "describe this machine and build, for a bug report", env},
  };
  return all;
}

}  // namespace hearth::apps
