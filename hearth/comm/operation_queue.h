#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hearth/comm/monitor.h"
#include "hearth/comm/plugin_group_options.h"
#include "hearth/comm/plugin_handle.h"
#include "hearth/comm/process_group.h"
#include "hearth/comm/store.h"
#include "hearth/comm/world.h"

namespace hearth::comm {

// The operations of a group in the order they were started, and the communication thread's loop over them. The queue
// outlives the group if a call of the plug-in never returns.
class OperationQueue : public std::enable_shared_from_this<OperationQueue> {
 public:
  using Run = std::function<void(PluginHandle&)>;
  using Start = std::function<void*(PluginHandle&)>;

  // `plugin` is never unloaded; without a store other ranks are not monitored.
  OperationQueue(const HearthCommPlugin& plugin, const World& world, std::shared_ptr<Store> store,
                 const PluginGroupOptions& options);

  // Names are literals. A message is started and then polled, so that consecutive messages run concurrently.
  WorkPtr add(const char* name, Run run) { return add(name, std::move(run), {}); }
  WorkPtr add_message(const char* name, Start start) { return add(name, {}, std::move(start)); }

  void run();                // the communication thread, from joining to leaving
  void wait_until_joined();  // throws if joining failed
  // Why this rank is about to abandon the group; not told if the group has failed, because then that is the reason.
  void report_failure(const std::string& sentence);
  // Finishes the operations under way (`in_order`) or abandons them. True once the thread has ended, false if a call of
  // the plug-in does not return.
  bool close(bool in_order);

 private:
  struct Operation;
  using OperationPtr = std::shared_ptr<Operation>;

  static int store_set(void* self, const char* key, const void* value, std::size_t size);
  static int store_get(void* self, const char* key, void* value, std::size_t capacity, std::size_t* size);

  WorkPtr add(const char* name, Run run, Start start);
  OperationPtr next(bool wait);
  void perform(PluginHandle& handle);
  void exchange_messages(PluginHandle& handle, OperationPtr first);
  void end(Operation& operation);
  void fail(const std::string& message);
  template <class Condition>
  void wait_for(std::unique_lock<std::mutex>& lock, Condition condition);
  bool failed();

  const HearthCommPlugin& plugin_;
  const PluginGroupOptions options_;
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
