#include "hearth/launch/watch/orphan_guard.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/launch/start/process.h"

namespace hearth::launch {
namespace {

// Reads the groups to watch, and as negative numbers those to forget, until the launcher ends and closes the pipe.
std::vector<pid_t> read_groups(int descriptor) {
  std::vector<pid_t> groups;
  for (pid_t group = 0;;) {
    const ssize_t count = read(descriptor, &group, sizeof group);
    if (count == sizeof group && group > 0) groups.push_back(group);
    if (count == sizeof group && group < 0) std::erase(groups, -group);
    if (count == 0 || (count < 0 && errno != EINTR)) return groups;
  }
}

// Detaches this process: nobody waits for it, and it closes descriptors whose end others may wait for.
[[noreturn]] void kill_group_after(int process, pid_t group) {
  setsid();
  dup2(process, 0);
  close_range(1, ~0U, 0);
  pollfd ended{0, POLLIN, 0};
  while (poll(&ended, 1, -1) < 0 && errno == EINTR) continue;
  kill(-group, SIGKILL);
  _exit(0);
}

}  // namespace

void guard_this_process() {
  end_with_parent();
  const bool on_terminal = isatty(STDIN_FILENO) != 0;  // a group of its own would not get the terminal's signals
  const pid_t self = getpid();
  if (!on_terminal) setpgid(0, 0);
  const int process = static_cast<int>(syscall(SYS_pidfd_open, self, 0));
  if (process < 0 || getpgrp() != self) return;
  const pid_t between = fork();
  if (between == 0) {
    if (fork() == 0) kill_group_after(process, self);
    _exit(0);
  }
  close(process);
  if (between > 0) waitpid(between, nullptr, 0);
}

OrphanGuard::OrphanGuard() : pid_(fork()) {
  check(pid_ >= 0, "the system cannot start another process");
  if (pid_ == 0) {
    setpgid(0, 0);
    told_.close_writer();
    for (const pid_t group : read_groups(told_.reader())) kill(-group, SIGKILL);
    _exit(0);
  }
  told_.close_reader();
}

OrphanGuard::~OrphanGuard() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void OrphanGuard::watch_this_process() { tell(getpid()); }

void OrphanGuard::forget(pid_t group) { tell(-group); }

void OrphanGuard::tell(pid_t number) {
  [[maybe_unused]] const ssize_t count = write(told_.writer(), &number, sizeof number);
}

}  // namespace hearth::launch
