#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/base/arguments.h"

namespace hearth::apps {

// Thrown where an error has been printed already: the program ends with this status.
struct Reported {
  int status;
};

// A subcommand of `hearth`. `words` follow its name; the result is the exit status. Errors are thrown: a UsageError
// ends the program with status 2, a NotFiniteError with 3, any other with 1.
struct Command {
  std::string_view group, name, summary;  // the group is a heading of `hearth --help`
  std::function<int(std::span<const std::string> words)> run;
  std::span<const Command> parts = {};  // subcommands: `hearth bench train`
};

const std::vector<Command>& commands();
std::span<const Command> benchmarks();

// The flags of a command without parts, as it declares them.
Arguments::Description describe(const Command& command);

// Prints "hearth: error: SENTENCE" as a line of standard error, above the progress bar if there is one.
void print_error(const std::string& sentence);

// False where the words ask for help, which is then printed. `results_alone`: standard output has the results alone, so
// messages go to stderr from now on. It is read once the words are parsed and may be the variable of --json.
bool parse_or_print_help(Arguments& arguments, std::span<const std::string> words, const bool& results_alone = false);

int ask(std::span<const std::string> words);
int tag(std::span<const std::string> words);
int classify(std::span<const std::string> words);
int embed(std::span<const std::string> words);
int search(std::span<const std::string> words);
int rerank(std::span<const std::string> words);
int download(std::span<const std::string> words);
int upload(std::span<const std::string> words);
int train_tokenizer(std::span<const std::string> words);
int init_model(std::span<const std::string> words);
int verify(std::span<const std::string> words);
int bench(std::span<const std::string> words);
int config(std::span<const std::string> words);
int launch(std::span<const std::string> words);
int test(std::span<const std::string> words);
int migrate(std::span<const std::string> words);
int estimate_memory(std::span<const std::string> words);
int nlp_example(std::span<const std::string> words);
int report(std::span<const std::string> words);
int top(std::span<const std::string> words);
int cache(std::span<const std::string> words);
int env(std::span<const std::string> words);
int completion(std::span<const std::string> words);
int man(std::span<const std::string> words);

}  // namespace hearth::apps
