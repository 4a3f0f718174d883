#include <fmt/format.h>
#include <malloc.h>

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
#include "hearth/base/nearest_name.h"
#include "hearth/base/usage_error.h"
#include "hearth/base/version.h"
#include "hearth/train/progress.h"

namespace {

constexpr int kUsageStatus = 2;

// A stream that cannot be written to is no reason to throw: fmt::print would.
void put(std::FILE* stream, const std::string& text) {
  std::fputs(text.c_str(), stream);
  std::fflush(stream);
}

void print_usage() {
  fmt::print("hearth {}: fine-tunes transformers on CPUs\n\nusage: hearth COMMAND [arguments]\n\ncommands:\n",
             hearth::kVersion);
  for (const hearth::apps::Command& command : hearth::apps::commands())
    fmt::print("  {:<16} {}\n", command.name, command.summary);
  fmt::print(
      "\n'hearth COMMAND --help' lists the arguments of a command, with examples.\n"
      "Exit status: 0 success, 1 failure, 2 wrong command line or file of options; `hearth launch` exits with the\n"
      "status of its target.\n");
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
  put(stderr, fmt::format("hearth: '{}' is not a command{}\n", word,
                          nearest.empty() ? "; 'hearth --help' lists the commands"
                                          : hearth::did_you_mean("'hearth " + nearest + "'")));
  return kUsageStatus;
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 2 && words[0] == "help") return run({words[1], "--help"});
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    print_usage();
    return words.empty() ? kUsageStatus : 0;
  }
  if (words[0] == "--version" || words[0] == "version") {
    fmt::print("hearth {}\n", hearth::kVersion);
    return 0;
  }
  const auto all = hearth::apps::commands();
  const auto found = std::ranges::find(all, words[0], &hearth::apps::Command::name);
  return found == all.end() ? fail_with_unknown(words[0]) : found->run(std::span(words).subspan(1));
}

// Runs no destructors: a communication library may wait there for processes that are gone.
[[noreturn]] void fail_with(const std::string& sentence, int status = 1) {
  std::fflush(stdout);
  put(stderr, "hearth: " + sentence + "\n");
  std::_Exit(status);
}

// Memory that a step frees is wanted again by the next one: the heap keeps it instead of giving it back.
void keep_heap() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 16 << 20);
}

}  // namespace

int main(int argc, char** argv) {
  keep_heap();
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond its size limit is an error of write(), like a full disk
  hearth::set_log_sink([](hearth::LogLevel level, std::string_view message) {
    hearth::Progress::clear_current();
    if (level == hearth::LogLevel::info) {
      put(stdout, std::string(message) + "\n");
    } else {
      put(stderr, "warning: " + std::string(message) + "\n");
    }
  });
  try {
    return run({argv + 1, argv + argc});
  } catch (const hearth::UsageError& error) {
    fail_with(error.what(), kUsageStatus);
  } catch (const std::filesystem::filesystem_error& error) {
    fail_with(error.path1().string() + ": " + error.code().message());
  } catch (const std::bad_alloc&) {
    fail_with("there is not enough memory; smaller batches, shorter sequences or a smaller model need less");
  } catch (const std::exception& error) {
    fail_with(error.what());
  }
}
