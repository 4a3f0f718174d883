#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/base/whole_number.h"
#include "hearth/comm/store_wire.h"
#include "hearth/comm/tcp_store.h"

namespace hearth::comm {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kFarewell{5};
constexpr std::chrono::milliseconds kHeard{1500};  // leave() does not wait for a client that was silent for longer
constexpr std::chrono::milliseconds kSweep{500};   // between checks for silent clients
constexpr std::size_t kMaxUnsent = wire::kMaxAnswer;

// Compares in constant time, so that timing does not reveal the token.
bool same_token(std::string_view ours, std::string_view theirs) {
  unsigned difference = ours.size() == theirs.size() ? 0 : 1;
  for (std::size_t i = 0; i < theirs.size(); ++i)
    difference |= static_cast<unsigned>(static_cast<unsigned char>(theirs[i])) ^
                  static_cast<unsigned char>(ours.empty() ? '\0' : ours[i % ours.size()]);
  return difference == 0;
}

std::string status(wire::Status code, std::string_view value = "") {
  return static_cast<char>(code) + std::string(value);
}

}  // namespace

struct StoreServer::Client {
  Socket socket;
  steady_clock::time_point since;  // the last request, or the beginning of the one under way
  std::string received, unsent;
  bool member = false;
  std::optional<std::pair<std::string, std::string>> last_will;
};

StoreServer::StoreServer(const std::string& host, int port, std::string token, const ServerLimits& limits)
    : token_(std::move(token)), limits_(limits), listener_(listen_at(host, port)) {
  int ends[2];
  hearth::check(pipe2(ends, O_CLOEXEC) == 0, "[store] the system has no pipe left");
  wake_reader_ = Socket(ends[0]);
  wake_writer_ = Socket(ends[1]);
  thread_ = std::thread([this] { serve(); });
}

void StoreServer::leave() {
  const auto deadline = steady_clock::now() + kFarewell;
  while (live_members_ > 0 && steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

StoreServer::~StoreServer() {
  stopping_ = true;
  [[maybe_unused]] const auto woken = write(wake_writer_.descriptor(), "", 1);
  thread_.join();
}

void StoreServer::serve() {
  while (!stopping_) {
    const bool accepts = steady_clock::now() >= accepts_again_;
    std::vector<pollfd> waiting{{wake_reader_.descriptor(), POLLIN, 0},
                                {accepts ? listener_.descriptor() : -1, POLLIN, 0}};  // poll skips -1
    for (const Client& client : clients_)
      waiting.push_back(
          {client.socket.descriptor(), static_cast<short>(client.unsent.empty() ? POLLIN : POLLIN | POLLOUT), 0});
    poll(waiting.data(), waiting.size(), static_cast<int>(std::min(limits_.patience.count() / 4, kSweep.count())));
    auto place = waiting.begin() + 2;
    for (auto client = clients_.begin(); client != clients_.end(); ++place) {
      const bool idle = client->member && client->received.empty();
      const bool ready = (place->revents & (POLLIN | POLLERR | POLLHUP)) != 0;
      const bool keep = (!ready || receive(*client)) && transmit(*client) &&
                        (idle || steady_clock::now() - client->since < limits_.patience);
      if (!keep) drop(*client);
      client = keep ? std::next(client) : clients_.erase(client);
    }
    if (waiting[1].revents != 0) accept_clients();
    live_members_ = static_cast<std::size_t>(std::ranges::count_if(
        clients_, [](const Client& client) { return client.member && steady_clock::now() - client.since < kHeard; }));
  }
}

void StoreServer::accept_clients() {
  while (true) {
    Socket socket(accept4(listener_.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      // Without descriptors the connection stays in the queue, and poll would report it again at once.
      if (errno != EAGAIN && errno != EINTR) accepts_again_ = steady_clock::now() + kSweep;
      return;
    }
    if (clients_.size() < limits_.clients)
      clients_.push_back({std::move(socket), steady_clock::now(), "", "", false, {}});
  }
}

bool StoreServer::receive(Client& client) {
  char buffer[1 << 16];
  const ssize_t got = recv(client.socket.descriptor(), buffer, sizeof buffer, 0);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  if (client.member && client.received.empty()) client.since = steady_clock::now();
  client.received.append(buffer, static_cast<std::size_t>(got));
  std::size_t used = 0;
  while (client.received.size() - used >= wire::kLengthBytes) {
    const std::size_t length = wire::number(std::string_view(client.received).substr(used, wire::kLengthBytes));
    if (length > (client.member ? wire::kMaxRequest : wire::kMaxHello)) return false;
    if (client.received.size() - used < wire::kLengthBytes + length) break;
    if (!answer(client, client.received.substr(used + wire::kLengthBytes, length))) return false;
    used += wire::kLengthBytes + length;
    client.since = steady_clock::now();
  }
  client.received.erase(0, used);
  return true;
}

bool StoreServer::answer(Client& client, const std::string& request) {
  wire::Reader reader(request);
  const std::size_t operation = reader.take_number(1);
  const std::string key = reader.take(reader.take_number(2)), value = reader.rest();
  if (!reader.valid() || key.size() > wire::kMaxKey || value.size() > wire::kMaxValue) return false;
  if (operation > wire::leave || client.member == (operation == wire::hello)) return false;
  if (operation == wire::hello && key != wire::kProtocol) return false;
  try {
    client.unsent += wire::frame(perform(client, static_cast<int>(operation), key, value));
  } catch (const Error& error) {
    client.unsent += wire::frame(status(wire::refused, error.what()));
  }
  return client.unsent.size() <= kMaxUnsent;
}

std::string StoreServer::perform(Client& client, int operation, const std::string& key, const std::string& value) {
  if (operation == wire::set || operation == wire::add)
    hearth::check(bytes() + key.size() + value.size() <= limits_.bytes, "the store is full");
  switch (operation) {
    case wire::hello:
      hearth::check(token_.empty() || same_token(token_, value),
                    "HEARTH_JOB_TOKEN differs from that of rank 0: set the same on every rank");
      client.member = true;
      return status(wire::done);
    case wire::set:
      set(key, value);
      return status(wire::done);
    case wire::find: {
      const auto found = find(key);
      return found ? status(wire::done, *found) : status(wire::absent);
    }
    case wire::add: {
      const auto amount = whole_number<std::int64_t>(value);
      hearth::check(amount.has_value(), "{} is not a number", value);
      return status(wire::done, std::to_string(add(key, *amount)));
    }
    case wire::list: {
      std::string pairs;
      for (const auto& [name, text] : list(key))
        pairs += wire::number(name.size(), 2) + name + wire::number(text.size(), 4) + text;
      return status(wire::done, pairs);
    }
    case wire::last_will:
      client.last_will = {key, value};
      return status(wire::done);
    default:
      client.last_will.reset();
      return status(wire::done);
  }
}

bool StoreServer::transmit(Client& client) {
  if (client.unsent.empty()) return true;
  const ssize_t sent = send(client.socket.descriptor(), client.unsent.data(), client.unsent.size(), MSG_NOSIGNAL);
  if (sent < 0) return errno == EAGAIN || errno == EINTR;
  client.unsent.erase(0, static_cast<std::size_t>(sent));
  return true;
}

void StoreServer::drop(Client& client) {
  if (client.last_will) set(client.last_will->first, client.last_will->second);
}

}  // namespace hearth::comm
