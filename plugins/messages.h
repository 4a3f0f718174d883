#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "plugins/backend.h"

// Messages with tags, for libraries whose transfers have none: a header with the tag goes first, then the data. Between
// two ranks one transfer runs at a time, so that transfers keep their order.
namespace hearth::plugins {

struct Header {
  std::int64_t tag = 0;
  std::size_t bytes = 0;
};

// The messages from this rank to one other.
class Outbox {
 public:
  using Start = std::function<std::unique_ptr<Request>(const void* data, std::size_t bytes)>;

  explicit Outbox(Start start) : start_(std::move(start)) {}  // of a transfer to that rank
  std::unique_ptr<Request> send(const void* data, std::size_t bytes, int tag);

 private:
  struct Letter {
    Header header;
    const void* data;
    bool gone = false;
  };
  class Sending;

  void move_on();

  Start start_;
  std::deque<std::shared_ptr<Letter>> letters_;
  std::unique_ptr<Request> transfer_;  // of the first letter's header, or of its data
  bool header_sent_ = false;
};

// The messages from one other rank to this one. Those that nobody has asked for yet are kept.
class Inbox {
 public:
  using Start = std::function<std::unique_ptr<Request>(void* data, std::size_t bytes)>;

  Inbox(int from, Start start) : from_(from), start_(std::move(start)) {}  // of a transfer from that rank
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
  Start start_;
  std::deque<std::shared_ptr<Wish>> wishes_;
  std::deque<Letter> letters_;         // that have come
  std::unique_ptr<Request> transfer_;  // of the next letter's header, or of its data
  std::optional<Letter> next_;
  Header header_;
};

}  // namespace hearth::plugins
