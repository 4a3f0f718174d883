#include "hearth/cpu/rotation.h"

#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>

namespace hearth::cpu {
namespace {

using Clock = std::chrono::steady_clock;

bool is_on_one_of(const std::vector<int>& processors, const cpu_set_t& set) {
  return CPU_COUNT(&set) == 1 && std::ranges::any_of(processors, [&](int processor) {
           return CPU_ISSET(static_cast<std::size_t>(processor), &set);
         });
}

// Threads that start or end meanwhile, and threads bound in another way, are left alone.
void move_threads(const std::vector<int>& processors, int to) {
  cpu_set_t before, after;
  CPU_ZERO(&after);
  CPU_SET(static_cast<std::size_t>(to), &after);
  std::error_code ignored;
  using Threads = std::filesystem::directory_iterator;
  for (Threads entry("/proc/self/task", ignored); entry != Threads(); entry.increment(ignored)) {
    const pid_t thread = std::stoi(entry->path().filename().string());
    if (sched_getaffinity(thread, sizeof before, &before) != 0) continue;
    if (is_on_one_of(processors, before)) sched_setaffinity(thread, sizeof after, &after);
  }
}

}  // namespace

void rotate_process(const std::vector<int>& processors, std::size_t own, std::chrono::milliseconds period) {
  std::thread([=] {
    while (true) {
      const auto turn = static_cast<std::size_t>(Clock::now().time_since_epoch() / period);
      move_threads(processors, processors[(own + turn) % processors.size()]);
      std::this_thread::sleep_until(Clock::time_point((turn + 1) * period));
    }
  }).detach();
}

}  // namespace hearth::cpu
