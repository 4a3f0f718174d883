#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

namespace hearth::plugins {

// A thread that runs one operation after the other.
class Helper {
 public:
  Helper() : thread_([this] { run(); }) {}
  ~Helper() {
    give({});
    thread_.join();
  }

  std::future<void> start(std::function<void()> operation) {
    std::packaged_task<void()> task(std::move(operation));
    std::future<void> ended = task.get_future();
    give(std::move(task));
    return ended;
  }

 private:
  using Task = std::packaged_task<void()>;  // one that is not valid is the last

  void give(Task task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    changed_.notify_one();
  }

  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return !tasks_.empty(); });
      Task task = std::move(tasks_.front());
      tasks_.pop_front();
      if (!task.valid()) return;
      lock.unlock();
      task();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  std::thread thread_;
};

}  // namespace hearth::plugins
