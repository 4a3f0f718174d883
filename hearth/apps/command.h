#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hearth::apps {

// A subcommand of `hearth`: words are what follows its name; the result is the exit status. Errors are thrown.
struct Command {
  std::string_view name, summary;
  int (*run)(std::span<const std::string> words);
};

std::span<const Command> commands();

int run_qa(std::span<const std::string> words);
int ask(std::span<const std::string> words);
int train_tokenizer(std::span<const std::string> words);
int init_model(std::span<const std::string> words);
int verify(std::span<const std::string> words);
int bench(std::span<const std::string> words);
int config(std::span<const std::string> words);
int launch(std::span<const std::string> words);
int test(std::span<const std::string> words);
int estimate_memory(std::span<const std::string> words);
int env(std::span<const std::string> words);

}  // namespace hearth::apps
