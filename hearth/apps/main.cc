#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include "hearth/apps/command.h"
#include "hearth/base/log.h"
#include "hearth/base/terminal.h"
#include "hearth/base/text_layout.h"
#include "hearth/base/version.h"
#include "hearth/train/progress.h"

namespace {

void print_error(const std::string& sentence) {
  hearth::Progress::print_line(STDERR_FILENO, hearth::highlighted("hearth: error: " + sentence, STDERR_FILENO));
}

void print_usage() {
  fmt::print("hearth {}: fine-tunes transformers on CPUs\n\nusage: hearth COMMAND [arguments]\n\ncommands:\n",
             hearth::kVersion);
  for (const hearth::apps::Command& command : hearth::apps::commands())
    fmt::print("  {:<16} {}\n", command.name, hearth::wrapped(command.summary, hearth::help_columns(), 19));
  fmt::print("\n'hearth COMMAND --help' lists a command's arguments.\n");
}

int run(const std::vector<std::string>& words) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    print_usage();
    return words.empty() ? 2 : 0;
  }
  if (words[0] == "--version") {
    fmt::print("hearth {}\n", hearth::kVersion);
    return 0;
  }
  const auto all = hearth::apps::commands();
  const auto found = std::ranges::find(all, words[0], &hearth::apps::Command::name);
  if (found == all.end()) {
    print_error("'" + words[0] + "' is not a command; 'hearth --help' lists them");
    return 2;
  }
  return found->run(std::span(words).subspan(1));
}

// Ends without destructors of static objects: an MPI or oneCCL library might wait there for processes that are gone.
[[noreturn]] void fail_with(const std::string& sentence) {
  print_error(sentence);
  std::_Exit(1);
}

// The heap keeps the memory that a training step frees, because the next step needs it again.
void keep_heap() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 16 << 20);
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
  } catch (const std::filesystem::filesystem_error& error) {
    fail_with(error.path1().string() + ": " + error.code().message());
  } catch (const std::bad_alloc&) {
    fail_with("there is not enough memory; smaller batches, shorter sequences or a smaller model need less");
  } catch (const std::exception& error) {
    fail_with(error.what());
  }
}
