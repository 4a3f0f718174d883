#pragma once

#include <csignal>

namespace hearth::launch {

// Blocks the signals that the supervisor handles and reads them from a descriptor. SIGHUP is left out if it is ignored,
// as nohup sets it: a blocked signal would be read although it is ignored. The other signals are read even if they were
// ignored, because shells start background jobs of scripts with SIGINT ignored.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int descriptor() const { return descriptor_; }
  int next() const;  // 0: none

 private:
  sigset_t before_{};
  void (*pipe_before_)(int) = nullptr;
  void (*child_before_)(int) = nullptr;
  int descriptor_ = -1;
};

}  // namespace hearth::launch
