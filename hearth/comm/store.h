#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>

namespace hearth::comm {

// The key-value store that the ranks of a job share. Thread-safe; failures are Errors.
class Store {
 public:
  using Milliseconds = std::chrono::milliseconds;

  virtual ~Store() = default;
  virtual void set(const std::string& key, const std::string& value) = 0;
  virtual std::optional<std::string> find(const std::string& key) = 0;
  // Returns the sum; a missing key counts as 0.
  virtual std::int64_t add(const std::string& key, std::int64_t amount) = 0;
  virtual std::map<std::string, std::string> list(const std::string& prefix) = 0;

  // A value that the store sets by itself if this rank's connection ends without leave().
  virtual void set_last_will(const std::string& /*key*/, const std::string& /*value*/) {}
  virtual void leave() {}
  // Makes current and future requests fail; may be called from any thread.
  virtual void interrupt() {}

  bool check(const std::string& key) { return find(key).has_value(); }
  // Wait for keys; an Error after the timeout, or as soon as give_up() is true.
  std::string get(const std::string& key, Milliseconds timeout, const std::function<bool()>& give_up = {});
  void wait(std::span<const std::string> keys, Milliseconds timeout);
};

// A store in memory: that of a single process, and the base of the server.
class MemoryStore : public Store {
 public:
  void set(const std::string& key, const std::string& value) override;
  std::optional<std::string> find(const std::string& key) override;
  std::int64_t add(const std::string& key, std::int64_t amount) override;
  std::map<std::string, std::string> list(const std::string& prefix) override;
  std::size_t bytes();  // of all keys and values

 private:
  void replace(const std::string& key, std::string value);

  std::mutex mutex_;
  std::map<std::string, std::string> values_;
  std::size_t bytes_ = 0;
};

}  // namespace hearth::comm
