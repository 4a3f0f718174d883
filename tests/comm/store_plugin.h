// An handle that can only meet, through the store: enough to see groups of processes fail.
#pragma once

#include <list>
#include <mutex>
#include <string>
#include <utility>

#include "hearth/comm/plugin.h"

namespace hearth::comm {

inline const char* meet_in_store(void* state) {
  auto& [world, meetings] = *static_cast<std::pair<HearthCommWorld, int>*>(state);
  const std::string meeting = std::to_string(++meetings) + "/";
  if (world.store_set(world.context, (meeting + std::to_string(world.rank)).c_str(), "", 0) != 0)
    return "the store is not there";
  for (int rank = 0; rank < world.size; ++rank) {
    char none[1];
    std::size_t size = 0;
    if (world.store_get(world.context, (meeting + std::to_string(rank)).c_str(), none, sizeof none, &size) != 0)
      return "somebody did not come";
  }
  return nullptr;
}

inline HearthCommPlugin store_plugin() {
  HearthCommPlugin plugin{};
  plugin.abi = HEARTH_COMM_ABI;
  plugin.name = "store";
  plugin.library = "the store";
  plugin.join = [](const HearthCommWorld* world, void** handle) {
    static std::mutex mutex;
    static std::list<std::pair<HearthCommWorld, int>> handles;  // after a failure nobody leaves
    {
      const std::lock_guard lock(mutex);
      *handle = &handles.emplace_back(*world, 0);
    }
    return meet_in_store(*handle);
  };
  plugin.barrier = meet_in_store;
  plugin.leave = [](void*) {};
  return plugin;
}

}  // namespace hearth::comm
