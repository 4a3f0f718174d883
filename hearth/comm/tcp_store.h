#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "hearth/comm/socket.h"
#include "hearth/comm/store.h"

// The store of a job of several processes: rank 0 holds and serves it, the others are its clients. A request and its
// answer are each a frame: its length in 4 bytes (lowest first), then
//   request: operation (1 byte: hello, set, find, add, list, last_will, leave), length of the key (2), key, value
//   answer:  status (1 byte: done, absent, refused), value; of `list`: length (2) and key, length (4) and value, ...
// The first request is hello, with the protocol's name as key and the job's token as value. Every request is answered
// at once; a client that waits for a key asks again. A client that sends anything else, or half a request, is dropped.
namespace hearth::comm {

struct ServerLimits {
  std::size_t clients = 4096;
  std::size_t bytes = std::size_t{1} << 28;   // of all keys and values
  std::chrono::milliseconds patience{10000};  // for the rest of a request, and for hello
};

class StoreServer final : public MemoryStore {
 public:
  // Listens on the interface of `host` only; port 0 takes any free one. An empty token admits every client.
  StoreServer(const std::string& host, int port, std::string token, const ServerLimits& limits = {});
  ~StoreServer() override;

  // Waits a few seconds for live clients to leave, so that they can read the last values first.
  void leave() override;
  int port() const { return port_of(listener_); }

 private:
  struct Client;

  void serve();
  void accept_clients();
  bool receive(Client& client);  // these three return false to drop the client
  bool answer(Client& client, const std::string& request);
  static bool transmit(Client& client);
  std::string perform(Client& client, int operation, const std::string& key, const std::string& value);
  void drop(Client& client);

  const std::string token_;
  const ServerLimits limits_;
  Socket listener_, wake_reader_, wake_writer_;
  std::chrono::steady_clock::time_point accepts_again_{};  // later than now while the system refuses connections
  std::list<Client> clients_;
  std::atomic<std::size_t> live_members_ = 0;  // clients that said hello and were heard of recently
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

class StoreClient final : public Store {
 public:
  // `timeout`: for connecting, which is retried until then, and for each answer.
  StoreClient(const std::string& host, int port, const std::string& token, std::chrono::milliseconds timeout);

  void set(const std::string& key, const std::string& value) override;
  std::optional<std::string> find(const std::string& key) override;
  std::int64_t add(const std::string& key, std::int64_t amount) override;
  std::map<std::string, std::string> list(const std::string& prefix) override;
  void set_last_will(const std::string& key, const std::string& value) override;
  void leave() override;
  void interrupt() override;

 private:
  struct Answer;

  Answer request(int operation, const std::string& key, const std::string& value);
  void wait_for(short events);
  std::string receive(std::size_t bytes);

  const std::string place_;
  const std::chrono::milliseconds timeout_;
  std::mutex mutex_;
  Socket socket_;
  bool lost_ = false;
};

}  // namespace hearth::comm
