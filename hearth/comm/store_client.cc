#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "hearth/base/check.h"
#include "hearth/base/whole_number.h"
#include "hearth/comm/store_wire.h"
#include "hearth/comm/tcp_store.h"

namespace hearth::comm {

struct StoreClient::Answer {
  wire::Status status;
  std::string value;
};

StoreClient::StoreClient(const std::string& host, int port, const std::string& token, std::chrono::milliseconds timeout)
    : place_(fmt::format("{}:{}", host, port)), timeout_(timeout), socket_(connect_to(host, port, timeout)) {
  request(wire::hello, std::string(wire::kProtocol), token);
}

void StoreClient::set(const std::string& key, const std::string& value) { request(wire::set, key, value); }

std::optional<std::string> StoreClient::find(const std::string& key) {
  Answer answer = request(wire::find, key, "");
  return answer.status == wire::done ? std::optional(std::move(answer.value)) : std::nullopt;
}

std::int64_t StoreClient::add(const std::string& key, std::int64_t amount) {
  const std::string answer = request(wire::add, key, std::to_string(amount)).value;
  const auto sum = whole_number<std::int64_t>(answer);
  hearth::check(sum.has_value(), "[store] rank 0 at {} answered '{}' for {}, which is not a number", place_, answer,
                key);
  return *sum;
}

std::map<std::string, std::string> StoreClient::list(const std::string& prefix) {
  const std::string pairs = request(wire::list, prefix, "").value;
  std::map<std::string, std::string> result;
  for (wire::Reader reader(pairs); !reader.empty();) {
    std::string key = reader.take(reader.take_number(2));
    result[std::move(key)] = reader.take(reader.take_number(4));
  }
  return result;
}

void StoreClient::set_last_will(const std::string& key, const std::string& value) {
  request(wire::last_will, key, value);
}

void StoreClient::leave() { request(wire::leave, "", ""); }

void StoreClient::interrupt() { shutdown(socket_.descriptor(), SHUT_RDWR); }

StoreClient::Answer StoreClient::request(int operation, const std::string& key, const std::string& value) {
  hearth::check(key.size() <= wire::kMaxKey && value.size() <= wire::kMaxValue,
                "[store] {}: a key has at most {} bytes and a value {}", key, wire::kMaxKey, wire::kMaxValue);
  const std::string bytes = wire::frame(static_cast<char>(operation) + wire::number(key.size(), 2) + key + value);
  const std::lock_guard lock(mutex_);
  hearth::check(!lost_, "[store] the connection to rank 0 at {} is lost", place_);
  lost_ = true;  // until this request succeeds: after a failure the next request would read its answer
  for (std::size_t sent = 0; sent < bytes.size();) {
    wait_for(POLLOUT);
    const ssize_t count = send(socket_.descriptor(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    hearth::check(count >= 0 || errno == EAGAIN || errno == EINTR, "[store] the connection to rank 0 at {} is lost: {}",
                  place_, std::strerror(errno));
    if (count > 0) sent += static_cast<std::size_t>(count);
  }
  const std::size_t length = wire::number(receive(wire::kLengthBytes));
  hearth::check(length >= 1 && length <= wire::kMaxAnswer,
                "[store] another program than rank 0 of a hearth job answers at {}: set MASTER_PORT to a free port",
                place_);
  const std::string answer = receive(length);
  lost_ = false;
  const auto status = static_cast<wire::Status>(answer[0]);
  hearth::check(status == wire::done || status == wire::absent, "[store] rank 0 at {} refused a request: {}", place_,
                answer.substr(1));
  return {status, answer.substr(1)};
}

// Counts the time in short waits, so that a job that was suspended does not find its time over when it is woken.
void StoreClient::wait_for(short events) {
  constexpr std::chrono::milliseconds kWait{100};
  pollfd waiting{socket_.descriptor(), events, 0};
  int ready = 0;
  for (auto left = timeout_; ready <= 0 && left.count() > 0; left -= std::min(left, kWait))
    ready = poll(&waiting, 1, static_cast<int>(std::min(left, kWait).count()));
  hearth::check(ready > 0, "[store] rank 0 at {} has not answered for {:.3g} s", place_,
                std::chrono::duration<double>(timeout_).count());
}

std::string StoreClient::receive(std::size_t bytes) {
  std::string result(bytes, '\0');
  for (std::size_t got = 0; got < bytes;) {
    wait_for(POLLIN);
    const ssize_t count = recv(socket_.descriptor(), result.data() + got, bytes - got, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    hearth::check(count > 0, "[store] rank 0 at {} has closed the connection", place_);
    got += static_cast<std::size_t>(count);
  }
  return result;
}

}  // namespace hearth::comm
