#pragma once

#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/base/error.h"
#include "tests/paths.h"

namespace hearth::launch {

// The program on a pseudo-terminal, or on pipes.
class Conversation {
 public:
  enum class Over { terminal, pipes };

  Conversation(std::vector<std::string> words, Over over) {
    int to_child[2], from_child[2];
    const bool terminal = over == Over::terminal;
    if (!terminal && (pipe(to_child) != 0 || pipe(from_child) != 0)) throw Error("no pipes");
    child_ = terminal ? forkpty(&input_, nullptr, nullptr, nullptr) : fork();
    if (child_ == 0) {
      if (!terminal) {
        dup2(to_child[0], STDIN_FILENO);
        dup2(from_child[1], STDOUT_FILENO);
        dup2(from_child[1], STDERR_FILENO);
        for (const int end : {to_child[0], to_child[1], from_child[0], from_child[1]}) close(end);
      }
      std::vector<char*> arguments{const_cast<char*>("hearth")};
      for (std::string& word : words) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      execv(kProgram, arguments.data());
      _exit(127);
    }
    output_ = input_;
    if (terminal) return;
    close(to_child[0]);
    close(from_child[1]);
    input_ = to_child[1];
    output_ = from_child[0];
  }
  ~Conversation() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    if (output_ != input_) close(output_);
    if (input_ >= 0) close(input_);
  }
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  // Waits for the text, in what came since the last one, and types.
  void answer(std::string_view text, std::string_view keys) {
    while (said_.find(text, seen_) == said_.npos)
      if (!hear()) throw Error("\"" + std::string(text) + "\" was not asked, but: " + said_);
    seen_ = said_.find(text, seen_) + text.size();
    type(keys);
  }
  void type(std::string_view keys) {
    if (write(input_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size())) throw Error("nobody reads");
  }
  void end_input() {
    close(input_);
    input_ = -1;
  }

  // The wait status, once it has ended by itself.
  int wait() {
    while (hear()) {
    }
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = -1;
    return status;
  }
  const std::string& said() const { return said_; }
  bool terminal_is_as_before() const {
    termios state{};
    tcgetattr(input_, &state);
    return (state.c_lflag & ICANON) != 0 && (state.c_lflag & ECHO) != 0;
  }

 private:
  bool hear() {
    pollfd more{output_, POLLIN, 0};
    if (poll(&more, 1, 30000) != 1) throw Error("silence after: " + said_);
    char buffer[4096];
    const ssize_t count = read(output_, buffer, sizeof buffer);
    if (count > 0) said_.append(buffer, static_cast<std::size_t>(count));
    return count > 0;
  }

  pid_t child_ = -1;
  int input_ = -1, output_ = -1;
  std::string said_;
  std::size_t seen_ = 0;
};

}  // namespace hearth::launch
