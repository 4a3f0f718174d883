#pragma once

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "hearth/comm/plugin.h"

#define HEARTH_EXPORT extern "C" __attribute__((visibility("default")))

// The part that all plug-ins share. Each plug-in implements Backend with its library and throws exceptions; `plugin_of`
// wraps that in the C table of hearth/comm/plugin.h and cuts calls that are larger than a message may be.
namespace hearth::plugins {

using Type = HearthCommType;
using Op = HearthCommOp;

std::size_t bytes_of(Type type);

struct World {
  explicit World(const HearthCommWorld& world);
  void set(const std::string& key, const std::vector<char>& value) const;
  std::vector<char> get(const std::string& key) const;
  bool given_up() const { return given.give_up(given.context) != 0; }
  void log_info(const std::string& line) const { given.log(given.context, HEARTH_LOG_INFO, line.c_str()); }
  bool several_hosts() const { return local_size < size; }

  int rank, size, local_rank, local_size;
  std::string address;
  std::chrono::milliseconds timeout;
  std::size_t max_message_bytes;
  HearthCommWorld given;
};

// Waits for other ranks between two calls that test for completion. After a test that did work `pause` yields; after
// idle tests it sleeps, longer each time, because the core may be shared with threads that compute. It throws when the
// job gives up, as it does when the time is out.
class Backoff {
 public:
  explicit Backoff(const World& world);
  void pause();

 private:
  const World& world_;
  std::chrono::steady_clock::time_point resumed_;
  int idle_ = 0;
};

// A message that was started.
class Request {
 public:
  virtual ~Request() = default;
  virtual bool done() = 0;
};

// Memory that outlives a call: if the wait for the call fails, the library still reads and writes it.
class KeptBuffer {
 public:
  char* with_size(std::size_t bytes) {
    if (memory_.size() < bytes) memory_.resize(bytes);
    return memory_.data();
  }

 private:
  std::vector<char> memory_;
};

// Counts are never zero, and no message is larger than the limit. `part` may be this rank's part of `whole`.
class Backend {
 public:
  explicit Backend(const World& world) : world_(world) {}
  virtual ~Backend() = default;
  const World& world() const { return world_; }
  // The size of one reduction that suits the library best; larger ones are cut.
  virtual std::size_t reduction_bytes() const { return world_.max_message_bytes; }

  virtual void all_reduce(void* data, std::size_t count, Type type, Op op) = 0;
  virtual void reduce(void* data, std::size_t count, Type type, Op op, int root) = 0;
  virtual void reduce_scatter(const void* whole, void* part, std::size_t count, Type type, Op op) = 0;
  virtual void broadcast(void* data, std::size_t bytes, int root) = 0;
  virtual void all_gather(const void* part, void* whole, std::size_t bytes) = 0;
  virtual void gather(const void* part, void* whole, std::size_t bytes, int root) = 0;
  virtual void scatter(const void* whole, void* part, std::size_t bytes, int root) = 0;
  virtual void all_to_all(const void* in, void* out, std::size_t bytes) = 0;
  virtual void barrier() = 0;
  virtual std::unique_ptr<Request> send(const void* data, std::size_t bytes, int to, int tag) = 0;
  virtual std::unique_ptr<Request> recv(void* data, std::size_t bytes, int from, int tag) = 0;
  // Memory of all ranks; only where Description::unshare is set.
  virtual void* share(std::size_t) { throw std::runtime_error("these ranks cannot share memory"); }
  virtual void leave() = 0;

  KeptBuffer packed, unpacked;  // for buffers of all ranks that are larger than a message

 protected:
  // This rank's part of the whole.
  char* place(void* whole, std::size_t bytes) const { return static_cast<char*>(whole) + world_.rank * bytes; }
  const char* place(const void* whole, std::size_t bytes) const {
    return static_cast<const char*>(whole) + world_.rank * bytes;
  }

  World world_;
};

// Members are those of HearthCommPlugin.
struct Description {
  const char* name;
  std::string library;
  int preference = 0;
  const char* (*refusal)(const char* launcher, int several_hosts) = nullptr;
  bool overlaps_without_threads = false;
  void (*unshare)(void* memory, std::size_t bytes) = nullptr;
};

using MakeBackend = std::unique_ptr<Backend> (*)(const World&);
const HearthCommPlugin* plugin_of(const Description& description, MakeBackend make);

template <class BackendOfLibrary>
const HearthCommPlugin* plugin_of(const Description& description) {
  return plugin_of(description, [](const World& world) -> std::unique_ptr<Backend> {
    return std::make_unique<BackendOfLibrary>(world);
  });
}

}  // namespace hearth::plugins
