#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace hearth::comm {

// Measures the time in which this process runs. While the process is stopped, as by SIGSTOP or a scheduler that
// suspends the job, the clock stands still.
class AwakeClock {
 public:
  using Duration = std::chrono::steady_clock::duration;

  // `each_tick` is called on the clock's thread, four times per second.
  explicit AwakeClock(std::function<void()> each_tick = {});
  ~AwakeClock();
  AwakeClock(const AwakeClock&) = delete;
  AwakeClock& operator=(const AwakeClock&) = delete;

  Duration now() const;  // since the clock was made

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  Duration counted_at(Clock::time_point time) const;

  const std::function<void()> each_tick_;
  mutable std::mutex mutex_;
  std::condition_variable ending_;
  bool ends_ = false;
  Duration counted_{};  // until the last tick
  Clock::time_point ticked_ = Clock::now();
  std::thread thread_;
};

}  // namespace hearth::comm
