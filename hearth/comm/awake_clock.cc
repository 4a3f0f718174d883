#include "hearth/comm/awake_clock.h"

#include <algorithm>
#include <utility>

namespace hearth::comm {
namespace {

constexpr std::chrono::milliseconds kTick{250};

}  // namespace

AwakeClock::AwakeClock(std::function<void()> each_tick)
    : each_tick_(std::move(each_tick)), thread_([this] { run(); }) {}

AwakeClock::~AwakeClock() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  ending_.notify_all();
  thread_.join();
}

AwakeClock::Duration AwakeClock::now() const {
  const std::lock_guard lock(mutex_);
  return counted_at(Clock::now());
}

// A tick that is long overdue means that the thread could not run, so most of the time since the last one is not
// counted.
AwakeClock::Duration AwakeClock::counted_at(Clock::time_point time) const {
  return counted_ + std::min<Duration>(time - ticked_, 2 * kTick);
}

void AwakeClock::run() {
  std::unique_lock lock(mutex_);
  while (!ending_.wait_for(lock, kTick, [&] { return ends_; })) {
    const auto time = Clock::now();
    counted_ = counted_at(time);
    ticked_ = time;
    if (!each_tick_) continue;
    lock.unlock();
    each_tick_();
    lock.lock();
  }
}

}  // namespace hearth::comm
