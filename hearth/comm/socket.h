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

// Names and numbers of hosts alike. Errors name the address and MASTER_ADDR or MASTER_PORT, through which it is given.
Socket listen_at(const std::string& host, int port);  // on the interface of that address alone; port 0: any free one
int port_of(const Socket& socket);
Socket connect_to(const std::string& host, int port, std::chrono::milliseconds timeout);  // tries until then

std::string local_address_towards(const std::string& host);  // of the route to it, as a number
bool is_loopback(const std::string& host);

}  // namespace hearth::comm
