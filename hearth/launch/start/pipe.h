#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "hearth/base/check.h"

namespace hearth::launch {

// A pipe that child programs do not inherit.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_, O_CLOEXEC) != 0)
      fail("no pipe can be opened: {}{}", std::strerror(errno), errno == EMFILE ? "; raise `ulimit -n`" : "");
  }
  ~Pipe() {
    close_reader();
    close_writer();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_reader() { close_end(ends_[0]); }
  void close_writer() { close_end(ends_[1]); }
  int take_reader() { return std::exchange(ends_[0], -1); }

 private:
  static void close_end(int& end) {
    if (end >= 0) close(std::exchange(end, -1));
  }

  int ends_[2] = {-1, -1};
};

}  // namespace hearth::launch
