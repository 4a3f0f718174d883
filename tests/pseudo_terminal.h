// A terminal for tests, of a given width, which records what is written to it.
#pragma once

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hearth/base/check.h"

namespace hearth {

class PseudoTerminal {
 public:
  explicit PseudoTerminal(unsigned short columns) : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK)) {
    check(master_ >= 0 && ::grantpt(master_) == 0 && ::unlockpt(master_) == 0, "no pseudo terminal");
    terminal_ = ::open(::ptsname(master_), O_RDWR | O_NOCTTY);
    resize(columns);
  }
  ~PseudoTerminal() {
    ::close(terminal_);
    ::close(master_);
  }
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;

  int descriptor() const { return terminal_; }
  void resize(unsigned short columns) {
    const winsize size{24, columns, 0, 0};
    ::ioctl(terminal_, TIOCSWINSZ, &size);
  }
  // Everything written so far; a mark behind it tells when all has arrived.
  std::string text() {
    constexpr char kMark = '\x05';
    check(::write(terminal_, &kMark, 1) == 1, "cannot write to the pseudo terminal");
    std::string read;
    for (int tries = 0; tries < 500 && !read.ends_with(kMark); ++tries) {
      char part[4096];
      const ssize_t count = ::read(master_, part, sizeof part);
      if (count > 0) read.append(part, static_cast<std::size_t>(count));
      if (count <= 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    check(read.ends_with(kMark), "the pseudo terminal lost its end");
    read.pop_back();
    return seen_ += read;
  }

 private:
  int master_, terminal_ = -1;
  std::string seen_;
};

// Sends standard streams to another descriptor while it lives.
class Redirection {
 public:
  Redirection(int to, std::initializer_list<int> streams) {
    std::fflush(stdout);
    for (const int stream : streams) {
      saved_.emplace_back(stream, ::dup(stream));
      ::dup2(to, stream);
    }
  }
  ~Redirection() {
    std::fflush(stdout);
    for (const auto& [stream, saved] : saved_) {
      ::dup2(saved, stream);
      ::close(saved);
    }
  }
  Redirection(const Redirection&) = delete;
  Redirection& operator=(const Redirection&) = delete;

 private:
  std::vector<std::pair<int, int>> saved_;
};

}  // namespace hearth
