#include "hearth/cpu/rotation.h"

#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <thread>

#include "hearth/cpu/parallel.h"

namespace hearth::cpu {
namespace {

using Clock = std::chrono::steady_clock;
using Seats = std::vector<std::vector<int>>;

std::vector<int> members(const cpu_set_t& set) {
  std::vector<int> processors;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(static_cast<std::size_t>(i), &set)) processors.push_back(i);
  return processors;
}

// The hardware threads of seat `to` at the places that `processors` have in the seat that holds them. None if no single
// seat does.
std::optional<cpu_set_t> places_in(const Seats& seats, std::size_t to, const std::vector<int>& processors) {
  for (const std::vector<int>& seat : seats) {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::size_t found = 0;
    for (std::size_t place = 0; place < seat.size(); ++place) {
      if (!std::ranges::binary_search(processors, seat[place])) continue;
      CPU_SET(static_cast<std::size_t>(seats[to][place]), &set);
      ++found;
    }
    if (found > 0) return found == processors.size() ? std::optional(set) : std::nullopt;
  }
  return std::nullopt;
}

// Threads that start or end meanwhile, and threads that are not bound to a seat, are left alone.
void move_threads(const Seats& seats, std::size_t to) {
  cpu_set_t before;
  std::error_code ignored;
  using Threads = std::filesystem::directory_iterator;
  for (Threads entry("/proc/self/task", ignored); entry != Threads(); entry.increment(ignored)) {
    const pid_t thread = std::stoi(entry->path().filename().string());
    if (sched_getaffinity(thread, sizeof before, &before) != 0) continue;
    if (const auto after = places_in(seats, to, members(before))) sched_setaffinity(thread, sizeof *after, &*after);
  }
}

}  // namespace

std::vector<int> processors_of_compute_threads() {
  std::set<int> all;
  std::mutex mutex;
  const auto look = [&](int) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return;
    const std::lock_guard lock(mutex);
    for (const int processor : members(set)) all.insert(processor);
  };
  detail::run_team(num_threads(), TeamJob(look));
  return {all.begin(), all.end()};
}

void rotate_process(const Seats& seats, std::size_t own, std::chrono::milliseconds period) {
  std::thread([=] {
    while (true) {
      const auto turn = static_cast<std::size_t>(Clock::now().time_since_epoch() / period);
      move_threads(seats, (own + turn) % seats.size());
      std::this_thread::sleep_until(Clock::time_point((turn + 1) * period));
    }
  }).detach();
}

}  // namespace hearth::cpu
