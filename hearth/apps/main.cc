#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "hearth/accelerate/failure.h"
#include "hearth/apps/build_info.h"
#include "hearth/apps/command.h"
#include "hearth/apps/exit_statuses.h"
#include "hearth/base/exit_status.h"
#include "hearth/base/log.h"
#include "hearth/base/nearest_name.h"
#include "hearth/base/progress.h"
#include "hearth/base/terminal.h"
#include "hearth/base/text_layout.h"
#include "hearth/base/version.h"
#include "hearth/cpu/system.h"

namespace {

void print_usage() {
  const std::size_t columns = hearth::help_columns();
  fmt::print("hearth {}: fine-tunes transformers on CPUs\n\nusage: hearth COMMAND [arguments]\n", hearth::kVersion);
  std::string_view group;
  for (const hearth::apps::Command& command : hearth::apps::commands()) {
    if (command.group != group) fmt::print("\n{}:\n", group = command.group);
    fmt::print("  {:<18} {}\n", command.name, hearth::wrapped(command.summary, columns, 21));
  }
  fmt::print("\n{}\n",
             hearth::wrapped(fmt::format("'hearth COMMAND --help' lists the arguments of a command, with examples.\n"
                                         "Exit status: {} docs/reliability.md says what a script should do with each.",
                                         hearth::apps::kExitStatuses),
                             columns, 0));
}

// The command that the user may have meant, where that is clear.
std::string nearest_command(const std::string& word) {
  constexpr std::pair<const char*, const char*> kOtherWords[] = {
      {"train", "run_qa"}, {"finetune", "run_qa"}, {"fine_tune", "run_qa"}, {"evaluate", "run_qa"},
      {"predict", "ask"},  {"answer", "ask"},      {"benchmark", "bench"},  {"doctor", "env"}};
  std::vector<std::string> known;
  for (const hearth::apps::Command& command : hearth::apps::commands()) known.emplace_back(command.name);
  for (const auto& [other, command] : kOtherWords) known.emplace_back(other);
  const std::string nearest = hearth::nearest_name(word, known);
  const auto other = std::ranges::find(kOtherWords, nearest, &std::pair<const char*, const char*>::first);
  return other == std::end(kOtherWords) ? nearest : other->second;
}

int fail_with_unknown(const std::string& word) {
  const std::string nearest = nearest_command(word);
  hearth::apps::print_error(fmt::format(
      "'{}' is not a command{}", word,
      nearest.empty() ? "; 'hearth --help' lists the commands" : hearth::did_you_mean("'hearth " + nearest + "'")));
  return hearth::kUsageStatus;
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 2 && words[0] == "help") return run({words[1], "--help"});
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    print_usage();
    return words.empty() ? hearth::kUsageStatus : 0;
  }
  if (words[0] == "--version" || words[0] == "version") {
    const bool verbose = words.size() > 1 && words[1] == "--verbose";
    fmt::print("{}", verbose ? hearth::apps::build_report() : fmt::format("hearth {}\n", hearth::kVersion));
    return 0;
  }
  const auto& all = hearth::apps::commands();
  const auto found = std::ranges::find(all, words[0], &hearth::apps::Command::name);
  return found == all.end() ? fail_with_unknown(words[0]) : found->run(std::span(words).subspan(1));
}

// Ends without destructors of static objects: an MPI or oneCCL library might wait there for processes that are gone.
[[noreturn]] void fail_with(const std::string& sentence, int status) {
  hearth::apps::print_error(sentence);
  std::_Exit(status);
}

// The heap keeps the memory that a training step frees, because the next step needs it again. Under `ulimit -v` threads
// share one heap, because each further one takes 64 MiB of addresses.
void keep_heap() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 16 << 20);
  if (hearth::cpu::soft_limit(RLIMIT_AS)) mallopt(M_ARENA_MAX, 1);
}

void log_to_terminal(hearth::LogLevel level, std::string_view message) {
  if (level == hearth::LogLevel::info) return hearth::Progress::print_line(STDOUT_FILENO, message);
  hearth::Progress::print_line(STDERR_FILENO, hearth::highlighted(fmt::format("warning: {}", message), STDERR_FILENO));
}

}  // namespace

int main(int argc, char** argv) {
  keep_heap();
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // in a pipe, lines keep their place between those of stderr
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond its size limit becomes an error of write(), as a full disk does
  hearth::set_log_sink(log_to_terminal);
  try {
    return run({argv + 1, argv + argc});
  } catch (const hearth::apps::Reported& reported) {
    std::_Exit(reported.status);  // see fail_with
  } catch (const std::exception& error) {
    fail_with(hearth::sentence_of(error), hearth::status_of(error));
  }
}
