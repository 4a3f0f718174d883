#include "hearth/base/stop_signals.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <iterator>

namespace hearth {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
// timeout(1), terminals and some mpiruns deliver one request twice: to the process and to its group.
constexpr std::int64_t kOneRequest = 1'000'000'000;  // nanoseconds

std::atomic<std::int64_t> noted_at = 0;
std::atomic<int> noted = 0;
std::atomic<bool> catching = false;
struct sigaction before[std::size(kSignals)];  // what the signals did until catch_stop_signals()
static_assert(std::atomic<std::int64_t>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void set_action(int signal, void (*action)(int)) {
  struct sigaction settings {};
  settings.sa_handler = action;
  settings.sa_flags = SA_RESTART;
  sigaction(signal, &settings, nullptr);
}

void act_as_before(int signal) {
  for (std::size_t i = 0; i < std::size(kSignals); ++i)
    if (kSignals[i] == signal) sigaction(signal, &before[i], nullptr);
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
    act_as_before(signal);
  }
  errno = error;
}

struct sigaction action_of(int signal) {
  struct sigaction settings {};
  sigaction(signal, nullptr, &settings);
  return settings;
}

}  // namespace

void catch_stop_signals() {
  if (catching.exchange(true)) return;
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    before[i] = action_of(kSignals[i]);
    if (before[i].sa_handler != SIG_IGN) set_action(kSignals[i], note);
  }
}

int caught_stop_signal() { return noted; }

void release_stop_signals() {
  if (catching.exchange(false))
    for (std::size_t i = 0; i < std::size(kSignals); ++i)
      if (action_of(kSignals[i]).sa_handler == note) sigaction(kSignals[i], &before[i], nullptr);
  noted_at = 0;
  if (const int signal = noted.exchange(0); signal != 0) raise(signal);
}

std::string name_of_signal(int signal) {
  const char* const name = sigabbrev_np(signal);
  return name == nullptr ? "signal " + std::to_string(signal) : std::string("SIG") + name;
}

}  // namespace hearth
