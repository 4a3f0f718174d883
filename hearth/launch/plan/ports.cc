#include "hearth/launch/plan/ports.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <random>

#include "hearth/base/check.h"

namespace hearth::launch {
namespace {

// Below the range of ephemeral ports, so that the kernel gives the port to nobody before the job listens there.
constexpr int kFirstPort = 15000, kLastPort = 32000, kTries = 1000;

bool port_is_free(int port) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  check(descriptor >= 0, "the system has no socket left");
  const int on = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const bool bound = bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(descriptor);
  return bound;
}

// Binds an abstract Unix socket: only one process of this host can hold the name, until it ends.
bool claim(int port) {
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  check(descriptor >= 0, "the system has no socket left");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = fmt::format("hearth-port-{}", port);
  name.copy(address.sun_path + 1, name.size());  // a leading zero byte: an abstract name, without a file
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (bind(descriptor, reinterpret_cast<const sockaddr*>(&address), size) == 0) return true;
  const bool taken = errno == EADDRINUSE;
  close(descriptor);
  return !taken;  // without abstract names ports cannot be claimed
}

}  // namespace

bool claim_port(int port) { return port_is_free(port) && claim(port); }

int free_port() {
  std::random_device random;
  std::uniform_int_distribution<int> any(kFirstPort, kLastPort);
  for (int tries = 0; tries < kTries; ++tries)
    if (const int port = any(random); port_is_free(port)) return port;
  fail("no port is free on this host");
}

}  // namespace hearth::launch
