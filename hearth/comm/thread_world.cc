#include "hearth/comm/thread_world.h"

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "hearth/comm/plugin_group.h"
#include "hearth/comm/thread_plugin.h"

namespace hearth::comm {
namespace {

// Of the thread plug-in, whose share() is left out.
HearthCommPlugin without_shared_memory(const char* name) {
  HearthCommPlugin plugin = thread_plugin();
  plugin.name = name;
  plugin.share = nullptr;
  plugin.unshare = nullptr;
  return plugin;
}

}  // namespace

void run_threads(int size, const std::function<void(ProcessGroup&)>& body, const ThreadWorldOptions& options) {
  const std::shared_ptr<Store> store = thread_store(size);
  PluginGroupOptions group_options;
  group_options.timeout = options.timeout;
  group_options.beat = std::chrono::milliseconds(20);
  group_options.max_message_bytes = options.max_message_bytes;
  std::mutex mutex;
  std::exception_ptr first;
  const auto remember = [&] {
    const std::lock_guard lock(mutex);
    if (!first) first = std::current_exception();
  };
  static const HearthCommPlugin apart = without_shared_memory("threads");
  const auto run = [&](int rank) {
    PluginGroup group(options.shares_memory ? thread_plugin() : apart, {rank, size, rank, size, Launcher::threads},
                      store, group_options);
    try {
      body(group);
    } catch (...) {
      remember();  // before the group ends, which makes others throw
      throw;
    }
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        run(rank);
      } catch (...) {
        remember();
      }
    });
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

std::unique_ptr<ProcessGroup> self_group() {
  static const HearthCommPlugin plugin = without_shared_memory("self");
  return std::make_unique<PluginGroup>(plugin, World{}, thread_store(1), PluginGroupOptions{});
}

}  // namespace hearth::comm
