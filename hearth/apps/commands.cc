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
constexpr std::string_view kTrain = "Train a model", kUse = "Use a model", kWatch = "Watch and compare runs",
                           kGather = "Models and data", kProcesses = "Several processes", kExamine = "This machine",
                           kShell = "The shell";
const std::vector<Command> kOthers{
    {kTrain, "nlp_example", "fine-tune BERT on MRPC, as Accelerate's first example does", nlp_example},
    {kUse, "ask", "ask a fine-tuned model questions about a text", ask},
    {kUse, "tag", "find the entities of texts with a fine-tuned model", tag},
    {kUse, "classify", "classify texts with a fine-tuned model", classify},
    {kUse, "embed", "turn texts into embeddings", embed},
    {kUse, "search", "find the texts that are nearest to a query", search},
    {kUse, "rerank", "order texts by how well they answer a query", rerank},
    {kWatch, "top", "watch a run from outside: step, loss, speed, time left", top},
    {kWatch, "report", "show the results of runs beside each other", report},
    {kGather, "download", "download a model or a data set from the Hub", download},
    {kGather, "upload", "upload a folder to the Hub", upload},
    {kGather, "train_tokenizer", "train a WordPiece, BPE or Unigram tokenizer on texts", train_tokenizer},
    {kGather, "init_model", "create a model with random weights from a config.json and a tokenizer", init_model},
    {kGather, "cache", "show or clear the cache of prepared data", cache},
    {kProcesses, "config", "answer questions about your machines, for `hearth launch`", config},
    {kProcesses, "launch", "run a command, a Python script or a program in several processes, each on its own cores",
     launch},
    {kProcesses, "test", "check that the processes of your configuration can train together", test},
    {kProcesses, "migrate", "turn a command or script for PyTorch, IPEX or Accelerate into one for hearth", migrate},
    {kExamine, "env", "describe this machine and this build, for a bug report", env},
    {kExamine, "estimate-memory", "estimate the memory that training a model needs", estimate_memory},
    {kExamine, "bench", "benchmark training steps, kernels, the tokenizer and communication", bench, benchmarks()},
    {kExamine, "verify", "compare this build with reference results of PyTorch and transformers", verify},
    {kShell, "completion", "print the script that lets bash, zsh or fish complete commands and flags", completion},
    {kShell, "man", "print or write manual pages", man},
};

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> all = [] {
    std::vector<Command> list;
    for (const tasks::TaskCommand& task : tasks::task_commands())
      list.push_back({kTrain, task.name, task.summary,
                      [&task](std::span<const std::string> words) { return run_task(task, words); }});
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

bool parse_or_print_help(Arguments& arguments, std::span<const std::string> words, const bool& results_alone) {
  arguments.parse(words);
  if (arguments.wants_help()) {
    fmt::print("{}", arguments.help());
    return false;
  }
  if (results_alone) set_log_sink({});
  for (const std::string& notice : arguments.notices()) log_info("{}", notice);
  return true;
}

}  // namespace hearth::apps
