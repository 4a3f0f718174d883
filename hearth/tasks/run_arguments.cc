#include "hearth/tasks/run_arguments.h"

#include <fmt/format.h>

#include "hearth/base/usage_error.h"
#include "hearth/train/program_flags.h"

namespace hearth::tasks {
namespace {

std::vector<std::string> examples(const TaskCommand& command) {
  return {
      fmt::format("hearth {} --model_name_or_path bert-base-uncased {} --do_train --do_eval --bf16 --output_dir out",
                  command.name, command.example),
      fmt::format("hearth {} options.yaml --learning_rate 2e-5", command.name),
      fmt::format("hearth launch --num_processes 2 {} options.yaml", command.name),
  };
}

}  // namespace

void declare(Arguments& options, RunArguments& arguments, Task& task) {
  declare(options, arguments.model, task.start());
  task.declare(options);
  declare(options, arguments.training);
  declare(options, arguments.hub);
}

RunArguments parse_run_arguments(const TaskCommand& command, Task& task, std::span<const std::string> words) {
  RunArguments result;
  Arguments options(
      fmt::format("hearth {} [options.yaml]", command.name),
      fmt::format("{}\n"
                  "A first argument that ends in .json, .yaml or .yml is a file with these options as keys; flags "
                  "override it.\n"
                  "A unique prefix of a flag is enough: --max_train 100 is --max_train_samples 100.",
                  command.description));
  options.examples(examples(command));
  declare(options, result, task);
  parse_flags_or_file(options, words);
  if (options.wants_help()) {
    result.help = options.help();
    return result;
  }
  as_usage([&] {
    take_precision_of_launcher(result.training);
    result.training.validate();
    check_start(result.model);
    task.validate(result.training);
  });
  result.resolved = options.values();
  result.notices = options.notices();
  return result;
}

}  // namespace hearth::tasks
