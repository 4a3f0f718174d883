#include "hearth/comm/store.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ctime>
#include <limits>
#include <random>
#include <thread>

#include "hearth/comm/socket.h"
#include "hearth/comm/store_wire.h"
#include "hearth/comm/tcp_store.h"
#include "tests/support.h"

namespace hearth::comm {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kLong{20000};

StoreClient client_of(const StoreServer& server, const std::string& token = "") {
  return {"127.0.0.1", server.port(), token, kLong};
}

void check_store(Store& store, Store& other) {
  store.set("a", "1");
  store.set("a", "two");
  EXPECT_EQ(other.get("a", kLong), "two");
  EXPECT_TRUE(other.check("a"));
  EXPECT_FALSE(other.check("b"));
  EXPECT_FALSE(other.find("b"));
  EXPECT_EQ(store.add("n", 5), 5);
  EXPECT_EQ(other.add("n", -7), -2);
  EXPECT_EQ(store.get("n", kLong), "-2");
  EXPECT_TRUE(contains(error_of([&] { store.add("a", 1); }), "not a number"));
  EXPECT_TRUE(contains(error_of([&] { store.add("n", std::numeric_limits<std::int64_t>::min()); }), "too large"));
  store.set("p/1", "x");
  store.set("p/2", std::string(60000, '\0'));
  EXPECT_EQ(other.list("p/").size(), 2u);
  EXPECT_EQ(other.list("p/").at("p/2").size(), 60000u);
  EXPECT_TRUE(other.list("q/").empty());
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(30));
    store.set("late", "here");
  });
  const std::string keys[] = {"a", "late"};
  other.wait(keys, kLong);
  later.join();
  EXPECT_TRUE(contains(error_of([&] { other.get("never", milliseconds(20)); }), "never was not set within 0.02 s"));
  EXPECT_TRUE(contains(error_of([&] { other.get("never", kLong, [] { return true; }); }), "given up"));
}

TEST(Stores, OfOneProcess) {
  MemoryStore store;
  check_store(store, store);
}

TEST(Stores, OfSeveralProcesses) {
  StoreServer server("127.0.0.1", 0, "");
  StoreClient first = client_of(server), second = client_of(server);
  check_store(first, second);
  EXPECT_EQ(server.find("a"), "two");
  EXPECT_TRUE(contains(error_of([&] { first.set(std::string(600, 'k'), ""); }), "at most"));
  EXPECT_TRUE(contains(error_of([&] { first.set("k", std::string(1 << 21, 'v')); }), "at most"));
  EXPECT_EQ(first.find("a"), "two");
}

TEST(Stores, TakeTheTokenOfTheJobAlone) {
  StoreServer server("127.0.0.1", 0, "secret");
  EXPECT_EQ(client_of(server, "secret").find("x"), std::nullopt);
  for (const char* wrong : {"", "s", "secreT", "secretsecret", "other"})
    EXPECT_TRUE(contains(error_of([&] { client_of(server, wrong); }), "HEARTH_JOB_TOKEN differs")) << wrong;
  EXPECT_EQ(client_of(server, "secret").find("x"), std::nullopt);
}

TEST(Stores, ExecuteTheLastWillOfThoseWhoDidNotLeave) {
  StoreServer server("127.0.0.1", 0, "");
  { client_of(server).set_last_will("gone/1", "died"); }
  EXPECT_EQ(server.get("gone/1", kLong), "died");
  {
    StoreClient polite = client_of(server);
    polite.set_last_will("gone/2", "died");
    polite.leave();
  }
  server.leave();  // waits until nobody is there
  EXPECT_FALSE(server.check("gone/2"));
}

TEST(Stores, SayWhatIsWrongWithTheAddress) {
  StoreServer server("127.0.0.1", 0, "");
  const std::string used = error_of([&] { StoreServer("127.0.0.1", server.port(), ""); });
  EXPECT_TRUE(contains(used, "in use") && contains(used, "MASTER_PORT")) << used;
  EXPECT_TRUE(contains(error_of([] { StoreServer("192.0.2.200", 0, ""); }), "not an address of this host"));
  EXPECT_TRUE(
      contains(error_of([] { StoreServer("no.such.host.invalid", 0, ""); }), "MASTER_ADDR no.such.host.invalid"));
  const int free_port = port_of(listen_at("127.0.0.1", 0));
  EXPECT_TRUE(
      contains(error_of([&] { StoreClient("127.0.0.1", free_port, "", milliseconds(50)); }), "has not answered"));
}

TEST(Stores, ListenOnOneInterface) {
  StoreServer server("127.0.0.1", 0, "");
  EXPECT_NE(error_of([&] { connect_to("127.0.0.2", server.port(), milliseconds(10)); }), "");
  EXPECT_EQ(local_address_towards("127.0.0.1"), "127.0.0.1");
  EXPECT_TRUE(is_loopback("127.0.0.1") && is_loopback("localhost") && !is_loopback("192.0.2.1"));
}

TEST(Stores, EndRequestsThatAreInterrupted) {
  const Socket silent = listen_at("127.0.0.1", 0);
  const auto ask = [&] { StoreClient("127.0.0.1", port_of(silent), "", milliseconds(50)); };
  EXPECT_TRUE(contains(error_of(ask), "has not answered for 0.05 s"));
  StoreServer server("127.0.0.1", 0, "");
  StoreClient client = client_of(server);
  client.interrupt();
  EXPECT_TRUE(contains(error_of([&] { client.find("a"); }), "rank 0 at 127.0.0.1"));
}

TEST(Stores, RefuseASumThatIsNoNumber) {
  const Socket listener = listen_at("127.0.0.1", 0);
  std::thread impostor([&] {
    pollfd calling{listener.descriptor(), POLLIN, 0};
    poll(&calling, 1, static_cast<int>(kLong.count()));
    const Socket socket(accept(listener.descriptor(), nullptr, nullptr));
    char request[1024];
    for (const char* value : {"", "many"})
      if (recv(socket.descriptor(), request, sizeof request, 0) > 0) {
        const std::string answer = wire::frame(static_cast<char>(wire::done) + std::string(value));
        send(socket.descriptor(), answer.data(), answer.size(), MSG_NOSIGNAL);
      }
  });
  EXPECT_TRUE(contains(error_of([&] { StoreClient("127.0.0.1", port_of(listener), "", kLong).add("n", 1); }),
                       "answered 'many' for n, which is not a number"));
  impostor.join();
}

// A stranger: sends raw bytes and reads nothing.
Socket stranger(const StoreServer& server, const std::string& bytes) {
  Socket socket = connect_to("127.0.0.1", server.port(), kLong);
  send(socket.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  return socket;
}

// Whether the other side closes the connection in time.
bool is_dropped(const Socket& socket) {
  const auto deadline = std::chrono::steady_clock::now() + kLong;
  char buffer[4096];
  while (std::chrono::steady_clock::now() < deadline) {
    const ssize_t got = recv(socket.descriptor(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN)) return true;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return false;
}

std::string request(int operation, const std::string& key, const std::string& value) {
  return wire::frame(static_cast<char>(operation) + wire::number(key.size(), 2) + key + value);
}

TEST(Strangers, AreDropped) {
  ServerLimits limits;
  limits.patience = milliseconds(1000);
  StoreServer server("127.0.0.1", 0, "secret", limits);
  StoreClient friendly = client_of(server, "secret");
  const std::string hello = request(wire::hello, std::string(wire::kProtocol), "secret");
  const std::string cases[] = {
      "",                                                          // silent
      hello.substr(0, 9),                                          // half of a request
      "GET / HTTP/1.1\r\n\r\n",                                    // another protocol
      wire::number(0xffffffff, 4),                                 // far too long
      wire::frame(""),                                             // empty
      request(wire::set, "a", "b"),                                // no hello
      request(wire::hello, "hearth-store-0", "secret"),            // another version
      hello + hello,                                               // twice
      hello + wire::frame(std::string("\1\xff\xff", 3) + "key"),   // a key longer than the request
      hello + request(99, "a", "b"),                               // no such operation
      hello + request(wire::set, std::string(1000, 'k'), "v"),     // a key too long
      hello + request(wire::set, "a", std::string(1 << 21, 'v')),  // a value too long
      hello + request(wire::set, "a", "b").substr(0, 6),           // half of a request, of a member
  };
  for (const std::string& bytes : cases)
    EXPECT_TRUE(is_dropped(stranger(server, bytes))) << testing::PrintToString(bytes);
  friendly.set("a", "still here");
  EXPECT_EQ(server.find("a"), "still here");
}

// Takes every descriptor that this process may have, and gives them back.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{std::min<rlim_t>(before_.rlim_cur, 256), before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    for (int next; (next = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) taken_.push_back(next);
  }
  ~NoDescriptors() {
    for (const int each : taken_) close(each);
    setrlimit(RLIMIT_NOFILE, &before_);
  }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
  std::vector<int> taken_;
};

TEST(Stores, RestWhileThereAreNoDescriptors) {
  StoreServer server("127.0.0.1", 0, "");
  const Socket late(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  {
    const NoDescriptors none;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(server.port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(connect(late.descriptor(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    const std::string hello = request(wire::hello, std::string(wire::kProtocol), "");
    send(late.descriptor(), hello.data(), hello.size(), MSG_NOSIGNAL);
    const std::clock_t before = std::clock();
    std::this_thread::sleep_for(milliseconds(1000));
    EXPECT_LT(std::clock() - before, CLOCKS_PER_SEC / 4);  // processor time: the server does not try again and again
  }
  char answer = 0;
  EXPECT_EQ(recv(late.descriptor(), &answer, 1, 0), 1);  // accepted now
}

TEST(Strangers, MaySendRandomBytes) {
  ServerLimits limits;
  limits.patience = milliseconds(1000);
  StoreServer server("127.0.0.1", 0, "", limits);
  StoreClient friendly = client_of(server);
  std::mt19937 random(7);
  const std::string hello = request(wire::hello, std::string(wire::kProtocol), "");
  for (int round = 0; round < 300; ++round) {
    std::string bytes(random() % 3000, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    // Plain noise; noise in a frame; noise in a frame of a member, whose operation is valid.
    if (round % 3 > 0) bytes = wire::frame(bytes);
    if (round % 3 == 2) bytes = hello + bytes;
    if (round % 3 == 2 && bytes.size() > hello.size() + 8) {
      bytes[hello.size() + 4] = static_cast<char>(random() % 7);
      bytes[hello.size() + 6] = 0;
    }
    stranger(server, bytes);
    EXPECT_EQ(friendly.add("rounds", 1), round + 1);
  }
}

TEST(Strangers, CannotFillTheStore) {
  ServerLimits limits;
  limits.clients = 3;
  limits.bytes = 1000;
  StoreServer server("127.0.0.1", 0, "", limits);
  StoreClient client = client_of(server);
  const auto fill = [&] {
    for (int i = 0; i < 11; ++i) client.set(std::to_string(i), std::string(100, 'v'));
  };
  EXPECT_TRUE(contains(error_of(fill), "full"));
  client.set("1", "again");
  const Socket second = stranger(server, ""), third = stranger(server, "");
  EXPECT_TRUE(is_dropped(stranger(server, "")));
  EXPECT_EQ(client.find("1"), "again");
}

}  // namespace
}  // namespace hearth::comm
