#pragma once

#include <chrono>
#include <string>
#include <utility>

namespace hearth::comm {

// A file descriptor that closes itself.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Socket();

  explicit operator bool() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

// Hosts are given by name or by IP address. Errors name the address and MASTER_ADDR or MASTER_PORT, which set it.
Socket listen_at(const std::string& host, int port);  // on the interface of that address only; port 0: any free one
int port_of(const Socket& socket);
Socket connect_to(const std::string& host, int port, std::chrono::milliseconds timeout);  // retries until then

std::string local_address_towards(const std::string& host);  // the IP address of this host on the route to `host`
bool is_loopback(const std::string& host);

}  // namespace hearth::comm
