#include "hearth/launch/watch/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "hearth/base/check.h"

namespace hearth::launch {
namespace {

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Signals::Signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT}) sigaddset(&set, signal);
  if (!is_ignored(SIGHUP)) sigaddset(&set, SIGHUP);
  sigprocmask(SIG_BLOCK, &set, &before_);
  descriptor_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  check(descriptor_ >= 0, "signals cannot be read: {}", std::strerror(errno));
  pipe_before_ = std::signal(SIGPIPE, SIG_IGN);
  child_before_ = std::signal(SIGCHLD, SIG_DFL);  // if it were ignored, the end of a rank would go unnoticed
}

Signals::~Signals() {
  close(descriptor_);
  std::signal(SIGPIPE, pipe_before_);
  std::signal(SIGCHLD, child_before_);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

int Signals::next() const {
  signalfd_siginfo info{};
  return read(descriptor_, &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

}  // namespace hearth::launch
