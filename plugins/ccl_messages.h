#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <oneapi/ccl.hpp>
#include <optional>
#include <vector>

#include "plugins/backend.h"

// Messages with tags on top of oneCCL's send and recv, which have no tags: a header with the tag goes first, then the
// data. Between two ranks one transfer runs at a time, because oneCCL may start two in any order.
namespace hearth::plugins {

constexpr auto kBytes = ccl::datatype::uint8;

struct Header {
  std::int64_t tag = 0;
  std::size_t bytes = 0;
};

// The messages from this rank to one other.
class Outbox {
 public:
  Outbox(int to, const ccl::communicator& comm) : to_(to), comm_(comm) {}
  std::unique_ptr<Request> send(const void* data, std::size_t bytes, int tag);

 private:
  struct Letter {
    Header header;
    const void* data;
    bool gone = false;
  };
  class Sending;

  void move_on();

  int to_;
  const ccl::communicator& comm_;
  std::deque<std::shared_ptr<Letter>> letters_;
  std::optional<ccl::event> event_;  // the transfer of the first letter's header, or of its data
  bool header_sent_ = false;
};

// The messages from one other rank to this one. Those that nobody has asked for yet are kept.
class Inbox {
 public:
  Inbox(int from, const ccl::communicator& comm) : from_(from), comm_(comm) {}
  std::unique_ptr<Request> recv(void* data, std::size_t bytes, int tag);

 private:
  struct Wish {
    Header header;
    void* data;
    bool granted = false;
  };
  struct Letter {
    std::int64_t tag;
    std::vector<char> data;
  };
  class Receiving;

  void move_on();
  void hand_out();

  int from_;
  const ccl::communicator& comm_;
  std::deque<std::shared_ptr<Wish>> wishes_;
  std::deque<Letter> letters_;       // that have come
  std::optional<ccl::event> event_;  // the transfer of the next letter's header, or of its data
  std::optional<Letter> next_;
  Header header_;
};

}  // namespace hearth::plugins
