#include "hearth/base/stop_signals.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>

namespace hearth {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
// timeout(1), terminals and some mpiruns deliver one request twice: to the process and to its group.
constexpr std::int64_t kOneRequest = 1'000'000'000;  // nanoseconds

std::atomic<std::int64_t> noted_at = 0;
std::atomic<int> noted = 0;
std::atomic<bool> catching = false;
static_assert(std::atomic<std::int64_t>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void set_action(int signal, void (*action)(int)) {
  struct sigaction settings {};
  settings.sa_handler = action;
  settings.sa_flags = SA_RESTART;
  sigaction(signal, &settings, nullptr);
}

void act_by_default(int signal) {
  set_action(signal, SIG_DFL);
  raise(signal);
}

// Runs as a signal handler, on any thread.
void note(int signal) {
  const int error = errno;
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  const std::int64_t now = std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  std::int64_t first = 0;
  if (noted_at.compare_exchange_strong(first, now)) {
    noted = signal;
  } else if (now - first > kOneRequest) {
    act_by_default(signal);
  }
  errno = error;
}

bool has_action(int signal, void (*action)(int)) {
  struct sigaction settings {};
  return sigaction(signal, nullptr, &settings) == 0 && settings.sa_handler == action;
}

}  // namespace

void catch_stop_signals() {
  if (catching.exchange(true)) return;
  for (const int signal : kSignals)
    if (!has_action(signal, SIG_IGN)) set_action(signal, note);
}

int caught_stop_signal() { return noted; }

void release_stop_signals() {
  catching = false;
  for (const int signal : kSignals)
    if (has_action(signal, note)) set_action(signal, SIG_DFL);
  noted_at = 0;
  if (const int signal = noted.exchange(0); signal != 0) raise(signal);
}

std::string name_of_signal(int signal) {
  const char* const name = sigabbrev_np(signal);
  return name == nullptr ? "signal " + std::to_string(signal) : std::string("SIG") + name;
}

}  // namespace hearth
