#pragma once

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "hearth/comm/plugin.h"

#define HEARTH_EXPORT extern "C" __attribute__((visibility("default")))

// What the plug-ins share: each implements Engine in terms of its library, with exceptions; `plugin_of` makes of it the
// C table of hearth/comm/plugin.h and cuts what is larger than a message may be.
namespace hearth::plugins {

using Type = HearthCommType;
using Op = HearthCommOp;

std::size_t bytes_of(Type type);

struct World {
  explicit World(const HearthCommWorld& world);
  void set(const std::string& key, const std::vector<char>& value) const;
  std::vector<char> get(const std::string& key) const;
  bool given_up() const { return given.give_up(given.context) != 0; }
  bool several_hosts() const { return local_size < size; }

  int rank, size, local_rank, local_size;
  std::string address;
  std::chrono::milliseconds timeout;
  std::size_t max_message_bytes;
  HearthCommWorld given;
};

// One wait for others. A pause after a test that did work is a yield, after idle ones it grows into a short sleep, so
// that a core which is shared with computing is left to it; it throws when the job gives up or the time is out.
class Patience {
 public:
  explicit Patience(const World& world);
  void pause();

 private:
  const World& world_;
  std::chrono::steady_clock::time_point deadline_, resumed_;
  int idle_ = 0;
};

// A message under way.
class Request {
 public:
  virtual ~Request() = default;
  virtual bool done() = 0;
};

// Memory for a call that outlives it: where waiting failed, the library still uses it.
class Lasting {
 public:
  char* of(std::size_t bytes) {
    if (memory_.size() < bytes) memory_.resize(bytes);
    return memory_.data();
  }

 private:
  std::vector<char> memory_;
};

// Counts are never zero, and no message is larger than the limit. The part may lie in its place of the whole.
class Engine {
 public:
  explicit Engine(const World& world) : world_(world) {}
  virtual ~Engine() = default;
  const World& world() const { return world_; }
  // The largest piece of one reduction that suits the library.
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
  virtual void leave() = 0;

  Lasting packed, unpacked;  // of wholes that are larger than a message

 protected:
  // Where this rank's part lies in the whole; the part given may be it.
  char* place(void* whole, std::size_t bytes) const { return static_cast<char*>(whole) + world_.rank * bytes; }
  const char* place(const void* whole, std::size_t bytes) const {
    return static_cast<const char*>(whole) + world_.rank * bytes;
  }

  World world_;
};

using MakeEngine = std::unique_ptr<Engine> (*)(const World&);
const HearthCommPlugin* plugin_of(const char* name, const std::string& library, MakeEngine make);

template <class EngineOfLibrary>
const HearthCommPlugin* plugin_of(const char* name, const std::string& library) {
  return plugin_of(name, library, [](const World& world) -> std::unique_ptr<Engine> {
    return std::make_unique<EngineOfLibrary>(world);
  });
}

}  // namespace hearth::plugins
