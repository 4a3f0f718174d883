#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "hearth/apps/command.h"
#include "hearth/apps/run_task.h"
#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/base/progress.h"
#include "hearth/base/terminal.h"
#include "hearth/base/text_layout.h"

namespace hearth::apps {

namespace {

// The commands beside those of tasks/task_table.cc.
const std::vector<Command> kOthers{
    {"nlp_example", "fine-tune BERT on MRPC, as Accelerate's first example does", nlp_example},
    {"ask", "ask a fine-tuned model questions about a text", ask},
    {"tag", "find the entities of texts with a fine-tuned model", tag},
    {"classify", "classify texts with a fine-tuned model", classify},
    {"embed", "turn texts into embeddings", embed},
    {"search", "find the texts that are nearest to a query", search},
    {"rerank", "order texts by how well they answer a query", rerank},
    {"download", "download a model or a data set from the Hub", download},
    {"upload", "upload a folder to the Hub", upload},
    {"train_tokenizer", "train a WordPiece tokenizer on text files", train_tokenizer},
    {"init_model", "create a model with random weights from a config.json and a tokenizer", init_model},
    {"verify", "compare this build with reference results of PyTorch and transformers", verify},
    {"bench", "benchmark training steps, kernels, the tokenizer and communication", bench, benchmarks()},
    {"config", "answer questions about your machines, for `hearth launch`", config},
    {"launch", "run a command, a Python script or a program in several processes, each on its own cores", launch},
    {"test", "check that the processes of your configuration can train together", test},
    {"estimate-memory", "estimate the memory that training a model needs", estimate_memory},
    {"migrate", "turn a command or script for PyTorch, IPEX or Accelerate into one for hearth", migrate},
    {"cache", "show or clear the cache of prepared data", cache},
    {"env", "describe this machine and this build, for a bug report", env},
    {"completion", "print the script that lets bash, zsh or fish complete commands and flags", completion},
    {"man", "print or write manual pages", man},
};

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> all = [] {
    std::vector<Command> list;
    for (const tasks::TaskCommand& task : tasks::task_commands())
      list.push_back(
          {task.name, task.summary, [&task](std::span<const std::string> words) { return run_task(task, words); }});
    list.insert(list.end(), kOthers.begin(), kOthers.end());
    return list;
  }();
  return all;
}

Arguments::Description describe(const Command& command) {
  const Arguments::DescriptionRequest request;
  try {
    command.run(std::array<std::string, 1>{"--help"});
  } catch (const Arguments::Description& description) {
    return description;
  }
  fail("hearth {} declares no flags", command.name);
}

void print_error(const std::string& sentence) {
  Progress::print_line(STDERR_FILENO, highlighted("hearth: error: " + printable_lines(sentence), STDERR_FILENO));
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
