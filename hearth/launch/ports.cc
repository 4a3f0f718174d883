#include "hearth/launch/ports.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hearth/base/error.h"

namespace hearth::launch {
namespace {

// The port that a socket gets when it asks for `port`, where 0 is any; -1 when it gets none.
int bound_port(int port) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  check(descriptor >= 0, "this system gives no socket");
  const int on = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const bool bound = bind(descriptor, generic, size) == 0 && getsockname(descriptor, generic, &size) == 0;
  close(descriptor);
  return bound ? ntohs(address.sin_port) : -1;
}

}  // namespace

bool port_is_free(int port) { return bound_port(port) == port; }

int free_port() {
  const int port = bound_port(0);
  check(port > 0, "no port is free on this host");
  return port;
}

}  // namespace hearth::launch
