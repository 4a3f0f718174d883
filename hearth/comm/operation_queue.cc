#include "hearth/comm/operation_queue.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/base/profiler.h"

namespace hearth::comm {
namespace {

void bind_this_thread(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus)
    if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(cpu), &set);
  if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0)
    log_warning("The communication thread cannot be bound to its CPUs: this process may not use them.");
}

}  // namespace

OperationQueue::OperationQueue(const HearthCommPlugin& plugin, const World& world, std::shared_ptr<Store> store,
                               const PluginGroupOptions& options)
    : plugin_(plugin),
      options_(options),
      store_(std::move(store)),
      wire_{.rank = world.rank,
            .size = world.size,
            .local_rank = world.local_rank,
            .local_size = world.local_size,
            .address = options_.address.c_str(),
            .timeout_ms = options_.timeout.count(),
            .max_message_bytes = options_.max_message_bytes,
            .context = this,
            .store_set = store_set,
            .store_get = store_get,
            .give_up =
                [](void* self) { return static_cast<int>(static_cast<OperationQueue*>(self)->monitor_.give_up()); },
            .log =
                [](void*, HearthCommLogLevel level, const char* message) {
                  log_message(level == HEARTH_LOG_WARNING ? LogLevel::warning : LogLevel::info, message);
                }},
      monitor_(world.size > 1 ? store_ : nullptr, {.rank = world.rank,
                                                   .size = world.size,
                                                   .timeout = options_.timeout,
                                                   .beat = options_.beat,
                                                   .silence = options_.silence,
                                                   .grace = options_.grace}) {}

// Threads that wait also check that the plug-in returns when it is asked to give up.
template <class Condition>
void OperationQueue::wait_for(std::unique_lock<std::mutex>& lock, Condition condition) {
  while (!changed_.wait_for(lock, options_.grace, condition)) {
    lock.unlock();
    if (monitor_.stuck()) fail(monitor_.explain(fmt::format("a call of {} does not return", plugin_.library)));
    lock.lock();
  }
}

struct OperationQueue::Operation final : Work {
  Operation(std::shared_ptr<OperationQueue> queue, const char* name, Run run, Start start)
      : queue_(std::move(queue)), name_(name), run_(std::move(run)), start_(std::move(start)) {}

  bool done() const override {
    const std::lock_guard lock(queue_->mutex_);
    return done_;
  }
  void wait() override {
    std::unique_lock lock(queue_->mutex_);
    queue_->wait_for(lock, [&] { return done_; });
    if (!failure_.empty()) throw Error(failure_);
  }

  const std::shared_ptr<OperationQueue> queue_;
  const char* const name_;
  const Run run_;
  const Start start_;                                                             // of a message: returns its request
  const std::shared_ptr<ProfilerTrack> track_ = profiler_track("communication");  // of the thread that asks for it
  void* request_ = nullptr;
  bool done_ = false;
  std::string failure_;
};

WorkPtr OperationQueue::add(const char* name, Run run, Start start) {
  auto operation = std::make_shared<Operation>(shared_from_this(), name, std::move(run), std::move(start));
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) {
    waiting_.push_back(operation);
  } else {
    operation->done_ = true;
    operation->failure_ = failure_;
  }
  changed_.notify_all();
  return operation;
}

int OperationQueue::store_set(void* self, const char* key, const void* value, std::size_t size) {
  try {
    static_cast<OperationQueue*>(self)->store_->set(std::string("plugin/") + key,
                                                    std::string(static_cast<const char*>(value), size));
    return 0;
  } catch (const std::exception&) {
    return 1;
  }
}

int OperationQueue::store_get(void* self, const char* key, void* value, std::size_t capacity, std::size_t* size) {
  auto* const queue = static_cast<OperationQueue*>(self);
  try {
    const std::string found = queue->store_->get(std::string("plugin/") + key, queue->options_.timeout,
                                                 [&] { return queue->monitor_.give_up(); });
    if (found.size() > capacity) return 1;
    std::memcpy(value, found.data(), found.size());
    *size = found.size();
    return 0;
  } catch (const std::exception&) {
    return 1;
  }
}

void OperationQueue::run() {
  try {
    bind_this_thread(options_.cpus);
    monitor_.enter("join");
    PluginHandle handle(plugin_, wire_);
    monitor_.exit();
    {
      const std::lock_guard lock(mutex_);
      joined_ = true;
      changed_.notify_all();
    }
    perform(handle);
    if (!failed()) {
      monitor_.enter("leave", false);
      handle.leave();
      monitor_.exit();
    }
  } catch (const std::exception& error) {
    fail(monitor_.explain(error.what()));
  }
  const std::lock_guard lock(mutex_);
  finished_ = true;
  changed_.notify_all();
}

// Takes the next operation from the queue; without `wait` only a message that is there already. Null if there is none.
OperationQueue::OperationPtr OperationQueue::next(bool wait) {
  std::unique_lock lock(mutex_);
  if (wait) changed_.wait(lock, [&] { return !waiting_.empty() || closing_ || !failure_.empty(); });
  if (waiting_.empty() || !failure_.empty() || (!wait && waiting_.front()->run_)) return nullptr;
  OperationPtr operation = std::move(waiting_.front());
  waiting_.pop_front();
  under_way_.push_back(operation);
  return operation;
}

void OperationQueue::perform(PluginHandle& handle) {
  while (const OperationPtr operation = next(true)) {
    if (operation->start_) {
      exchange_messages(handle, operation);
      continue;
    }
    monitor_.enter(operation->name_);
    {
      const TrackSpan span(operation->track_.get(), operation->name_);
      operation->run_(handle);
    }
    monitor_.exit();
    end(*operation);
  }
}

void OperationQueue::exchange_messages(PluginHandle& handle, OperationPtr first) {
  std::vector<OperationPtr> pending;
  const auto begin = [&](const OperationPtr& operation) {
    monitor_.enter(operation->name_, false);
    operation->request_ = operation->start_(handle);
    pending.push_back(operation);
  };
  begin(first);
  std::chrono::microseconds pause{0};
  while (!pending.empty()) {
    while (const OperationPtr operation = next(false)) begin(operation);
    const std::size_t ended = std::erase_if(pending, [&](const OperationPtr& operation) {
      const bool done = handle.poll(operation->request_);
      if (done) end(*operation);
      return done;
    });
    check(ended > 0 || !monitor_.give_up(), "the other rank of a message did not answer");
    pause = ended > 0 ? std::chrono::microseconds(0)
                      : std::min(pause + std::chrono::microseconds(5), std::chrono::microseconds(200));
    std::this_thread::sleep_for(pause);
  }
  monitor_.exit();
}

void OperationQueue::end(Operation& operation) {
  const std::lock_guard lock(mutex_);
  operation.done_ = true;
  std::erase_if(under_way_, [&](const OperationPtr& other) { return other.get() == &operation; });
  changed_.notify_all();
}

void OperationQueue::fail(const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) failure_ = message;
  waiting_.insert(waiting_.begin(), under_way_.begin(), under_way_.end());
  for (const OperationPtr& operation : waiting_) {
    operation->done_ = true;
    operation->failure_ = failure_;
  }
  waiting_.clear();
  under_way_.clear();
  changed_.notify_all();
}

bool OperationQueue::failed() {
  const std::lock_guard lock(mutex_);
  return !failure_.empty();
}

void OperationQueue::wait_until_joined() {
  std::unique_lock lock(mutex_);
  wait_for(lock, [&] { return joined_ || !failure_.empty(); });
  if (!failure_.empty()) throw Error(failure_);
}

void OperationQueue::report_failure(const std::string& sentence) {
  if (!failed()) monitor_.report_failure(sentence);
}

bool OperationQueue::close(bool in_order) {
  if (!in_order) {
    monitor_.abandon();
    fail("[comm] the process group was abandoned");
  }
  std::unique_lock lock(mutex_);
  closing_ = true;
  changed_.notify_all();
  wait_for(lock, [&] { return finished_ || !failure_.empty(); });
  const bool finished = changed_.wait_for(lock, options_.grace, [&] { return finished_; });
  const bool failed = !failure_.empty();
  lock.unlock();
  monitor_.stop(failed);
  return finished;
}

}  // namespace hearth::comm
