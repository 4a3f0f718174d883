#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace hearth::data {

// Produces items on its own thread, up to `ahead` of the consumer, and hands them out in order. `produce` is called
// until it returns nothing. An exception from `produce` is rethrown by next() after the items produced before it.
template <class T>
class Prefetcher {
 public:
  using Produce = std::function<std::optional<T>()>;

  Prefetcher(Produce produce, std::size_t ahead)
      : produce_(std::move(produce)), ahead_(ahead > 0 ? ahead : 1), thread_([this] { run(); }) {}

  ~Prefetcher() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  // Waits for the next item; nothing at the end.
  std::optional<T> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !items_.empty() || ended_; });
    if (items_.empty()) {
      if (failure_) std::rethrow_exception(failure_);
      return std::nullopt;
    }
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return item;
  }

 private:
  void run() {
    try {
      while (wait_for_room()) {
        std::optional<T> item = produce_();
        if (!item) break;
        const std::lock_guard lock(mutex_);
        items_.push_back(std::move(*item));
        changed_.notify_all();
      }
    } catch (...) {
      failure_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  bool wait_for_room() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return items_.size() < ahead_ || stopping_; });
    return !stopping_;
  }

  Produce produce_;
  std::size_t ahead_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> items_;
  std::exception_ptr failure_;
  bool ended_ = false;
  bool stopping_ = false;
  std::thread thread_;  // last: it starts when all above is there
};

}  // namespace hearth::data
