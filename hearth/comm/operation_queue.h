#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hearth/comm/engine.h"
#include "hearth/comm/engine_options.h"
#include "hearth/comm/monitor.h"
#include "hearth/comm/process_group.h"
#include "hearth/comm/store.h"
#include "hearth/comm/world.h"

namespace hearth::comm {

// The operations of a group, in the order they were started, and what the communication thread does with them. It
// outlives the group where the engine does not come back.
class OperationQueue : public std::enable_shared_from_this<OperationQueue> {
 public:
  using Run = std::function<void(Engine&)>;
  using Start = std::function<void*(Engine&)>;

  // `plugin` outlives the process; without a store nobody else is watched.
  OperationQueue(const HearthCommPlugin& plugin, const World& world, std::shared_ptr<Store> store,
                 const EngineOptions& options);

  // Names are literals. A message is started and then polled, so that messages in a row run together.
  WorkPtr add(const char* name, Run run) { return add(name, std::move(run), {}); }
  WorkPtr add_message(const char* name, Start start) { return add(name, {}, std::move(start)); }

  void run();                // the communication thread, from joining to leaving
  void wait_until_joined();  // throws where that failed
  // Ends what was started, or leaves it; true once the thread has ended, false where the engine does not come back.
  bool close(bool in_order);

 private:
  struct Operation;
  using OperationPtr = std::shared_ptr<Operation>;

  static int store_set(void* self, const char* key, const void* value, std::size_t size);
  static int store_get(void* self, const char* key, void* value, std::size_t capacity, std::size_t* size);

  WorkPtr add(const char* name, Run run, Start start);
  OperationPtr next(bool wait);
  void perform(Engine& engine);
  void exchange_messages(Engine& engine, OperationPtr first);
  void end(Operation& operation);
  void fail(const std::string& message);
  template <class Condition>
  void wait_for(std::unique_lock<std::mutex>& lock, Condition condition);
  bool failed();

  const HearthCommPlugin& plugin_;
  const EngineOptions options_;
  const std::shared_ptr<Store> store_;
  const HearthCommWorld wire_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<OperationPtr> waiting_;
  std::vector<OperationPtr> under_way_;
  std::string failure_;
  bool joined_ = false, closing_ = false, finished_ = false;
  Monitor monitor_;
};

}  // namespace hearth::comm
