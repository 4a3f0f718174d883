#pragma once

#include <cstddef>

#include "hearth/base/error.h"
#include "hearth/comm/plugin.h"

namespace hearth::comm {

// A plug-in's handle after it has joined the other ranks; turns the plug-in's error texts into Errors. Only the
// communication thread may use it.
class PluginHandle {
 public:
  PluginHandle(const HearthCommPlugin& plugin, const HearthCommWorld& world) : plugin_(plugin), world_(world) {
    require(plugin.join(&world, &handle_));
  }

  int rank() const { return world_.rank; }
  int size() const { return world_.size; }
  std::size_t max_message_bytes() const { return world_.max_message_bytes; }

  // Calls a function of plugin.h, for example handle.call(&HearthCommPlugin::barrier).
  template <class... Parameters, class... Args>
  void call(const char* (*HearthCommPlugin::*function)(void*, Parameters...), Args... args) {
    require((plugin_.*function)(handle_, args...));
  }
  bool poll(void* request) {
    int done = 0;
    require(plugin_.poll(handle_, request, &done));
    return done != 0;
  }
  void leave() { plugin_.leave(handle_); }

 private:
  static void require(const char* failure) {
    if (failure != nullptr) throw Error(failure);
  }

  const HearthCommPlugin& plugin_;
  const HearthCommWorld& world_;
  void* handle_ = nullptr;
};

}  // namespace hearth::comm
