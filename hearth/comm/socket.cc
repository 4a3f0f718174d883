#include "hearth/comm/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

#include "hearth/base/check.h"

namespace hearth::comm {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

Addresses resolve(const std::string& host, int port, int type) {
  addrinfo hints{};
  hints.ai_socktype = type;
  addrinfo* found = nullptr;
  const int status = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  check(status == 0, "[comm] MASTER_ADDR {} cannot be resolved ({}): set it to the address of the host of rank 0", host,
        gai_strerror(status));
  return {found, &freeaddrinfo};
}

// A socket for the first address of a name that `use` succeeds with: a name may have an IPv6 address on a host without
// IPv6. Closed if there is none; `error` is then that of the last attempt.
template <class Use>
Socket first_usable(const Addresses& addresses, int flags, int& error, const Use& use) {
  for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) {
    Socket result(socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC | flags, address->ai_protocol));
    if (result && use(result, *address)) return result;
    error = errno;
  }
  return Socket();
}

void set_option(const Socket& socket, int level, int option) {
  const int on = 1;
  setsockopt(socket.descriptor(), level, option, &on, sizeof on);
}

// Whether the connection was made in time.
bool try_connect(const Socket& socket, const addrinfo& address, milliseconds timeout) {
  if (::connect(socket.descriptor(), address.ai_addr, address.ai_addrlen) == 0) return true;
  if (errno != EINPROGRESS) return false;
  pollfd waiting{socket.descriptor(), POLLOUT, 0};
  if (poll(&waiting, 1, static_cast<int>(timeout.count())) != 1) return false;
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

sockaddr_storage own_address(const Socket& socket) {
  sockaddr_storage result{};
  socklen_t size = sizeof result;
  getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&result), &size);
  return result;
}

}  // namespace

Socket::~Socket() {
  if (descriptor_ >= 0) close(descriptor_);
}

Socket listen_at(const std::string& host, int port) {
  const Addresses addresses = resolve(host, port, SOCK_STREAM);
  int error = 0;
  // The search ends at an address in use: on a later address of the same name, rank 0 would listen where the other
  // ranks do not look first, and they would reach the program that holds the port.
  bool in_use = false;
  Socket socket = first_usable(addresses, SOCK_NONBLOCK, error, [&](const Socket& opened, const addrinfo& address) {
    set_option(opened, SOL_SOCKET, SO_REUSEADDR);
    const bool listens = !in_use && bind(opened.descriptor(), address.ai_addr, address.ai_addrlen) == 0 &&
                         listen(opened.descriptor(), SOMAXCONN) == 0;
    in_use = in_use || (!listens && errno == EADDRINUSE);
    return listens;
  });
  check(!in_use,
        "[comm] port {} of {} is in use, perhaps by another job: set MASTER_PORT to a free one, the same on every rank",
        port, host);
  if (!socket && error == EADDRNOTAVAIL)
    fail("[comm] MASTER_ADDR {} is not an address of this host, where rank 0 runs: set it to an address of this host",
         host);
  check(static_cast<bool>(socket), "[comm] rank 0 cannot listen at {}:{}: {}", host, port, std::strerror(error));
  return socket;
}

int port_of(const Socket& socket) {
  const sockaddr_storage address = own_address(socket);
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

Socket connect_to(const std::string& host, int port, milliseconds timeout) {
  const auto deadline = steady_clock::now() + timeout;
  milliseconds pause{10};
  const Addresses addresses = resolve(host, port, SOCK_STREAM);
  while (true) {
    int ignored = 0;
    Socket socket = first_usable(addresses, SOCK_NONBLOCK, ignored, [&](const Socket& opened, const addrinfo& address) {
      return try_connect(opened, address, std::min(timeout, milliseconds(5000)));
    });
    if (socket) {
      set_option(socket, IPPROTO_TCP, TCP_NODELAY);
      return socket;
    }
    check(steady_clock::now() < deadline,
          "[comm] rank 0 has not answered at {}:{} for {:.3g} s: check that it runs there, and that MASTER_ADDR and "
          "MASTER_PORT are the same on every rank",
          host, port, std::chrono::duration<double>(timeout).count());
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, milliseconds(200));
  }
}

std::string local_address_towards(const std::string& host) {
  const Addresses addresses = resolve(host, 9, SOCK_DGRAM);  // nothing is sent
  int error = 0;
  const Socket socket = first_usable(addresses, 0, error, [](const Socket& opened, const addrinfo& target) {
    return ::connect(opened.descriptor(), target.ai_addr, target.ai_addrlen) == 0;
  });
  check(static_cast<bool>(socket), "[comm] there is no route from this host to MASTER_ADDR {}: {}", host,
        std::strerror(error));
  const sockaddr_storage address = own_address(socket);
  char text[NI_MAXHOST] = "";
  getnameinfo(reinterpret_cast<const sockaddr*>(&address), sizeof address, text, sizeof text, nullptr, 0,
              NI_NUMERICHOST);
  return text;
}

bool is_loopback(const std::string& host) {
  const Addresses addresses = resolve(host, 0, SOCK_STREAM);
  if (addresses->ai_family == AF_INET6)
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(addresses->ai_addr)->sin6_addr);
  return ntohl(reinterpret_cast<const sockaddr_in*>(addresses->ai_addr)->sin_addr.s_addr) >> 24 == 127;
}

}  // namespace hearth::comm
