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
#include "hearth/base/version.h"
#include "hearth/train/progress.h"

namespace {

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
    put(stderr, "hearth: '" + words[0] + "' is not a command; 'hearth --help' lists them\n");
    return 2;
  }
  return found->run(std::span(words).subspan(1));
}

// Nothing is destroyed on the way out: a library of communication may wait there for processes that are gone.
[[noreturn]] void fail_with(const std::string& sentence) {
  std::fflush(stdout);
  put(stderr, "hearth: " + sentence + "\n");
  std::_Exit(1);
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
  } catch (const std::filesystem::filesystem_error& error) {
    fail_with(error.path1().string() + ": " + error.code().message());
  } catch (const std::bad_alloc&) {
    fail_with("there is not enough memory; smaller batches, shorter sequences or a smaller model need less");
  } catch (const std::exception& error) {
    fail_with(error.what());
  }
}
