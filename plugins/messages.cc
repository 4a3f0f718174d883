#include "plugins/messages.h"

#include <algorithm>
#include <cstring>

namespace hearth::plugins {

class Outbox::Sending : public Request {
 public:
  Sending(Outbox& box, std::shared_ptr<Letter> letter) : box_(box), letter_(std::move(letter)) {}
  bool done() override {
    box_.move_on();
    return letter_->gone;
  }

 private:
  Outbox& box_;
  std::shared_ptr<Letter> letter_;
};

std::unique_ptr<Request> Outbox::send(const void* data, std::size_t bytes, int tag) {
  letters_.push_back(std::make_shared<Letter>(Letter{{tag, bytes}, data}));
  return std::make_unique<Sending>(*this, letters_.back());
}

void Outbox::move_on() {
  while (!letters_.empty() && (!transfer_ || transfer_->done())) {
    Letter& letter = *letters_.front();
    if (!transfer_) {
      transfer_ = start_(&letter.header, sizeof letter.header);
    } else if (!header_sent_) {
      header_sent_ = true;
      transfer_ = start_(letter.data, letter.header.bytes);
    } else {
      letter.gone = true;
      header_sent_ = false;
      transfer_.reset();
      letters_.pop_front();
    }
  }
}

class Inbox::Receiving : public Request {
 public:
  Receiving(Inbox& box, std::shared_ptr<Wish> wish) : box_(box), wish_(std::move(wish)) {}
  bool done() override {
    box_.move_on();
    return wish_->granted;
  }

 private:
  Inbox& box_;
  std::shared_ptr<Wish> wish_;
};

std::unique_ptr<Request> Inbox::recv(void* data, std::size_t bytes, int tag) {
  wishes_.push_back(std::make_shared<Wish>(Wish{{tag, bytes}, data}));
  return std::make_unique<Receiving>(*this, wishes_.back());
}

void Inbox::move_on() {
  hand_out();
  while (transfer_ ? transfer_->done() : !wishes_.empty()) {
    if (!transfer_) {
      transfer_ = start_(&header_, sizeof header_);
    } else if (!next_) {
      next_ = Letter{header_.tag, std::vector<char>(header_.bytes)};
      transfer_ = start_(next_->data.data(), header_.bytes);
    } else {
      letters_.push_back(std::move(*next_));
      next_.reset();
      transfer_.reset();
      hand_out();
    }
  }
}

void Inbox::hand_out() {
  std::erase_if(wishes_, [&](const std::shared_ptr<Wish>& wish) {
    const auto letter = std::find_if(letters_.begin(), letters_.end(),
                                     [&](const Letter& other) { return other.tag == wish->header.tag; });
    if (letter == letters_.end()) return false;
    if (letter->data.size() != wish->header.bytes) {
      throw std::runtime_error("rank " + std::to_string(from_) + " has sent " + std::to_string(letter->data.size()) +
                               " bytes where " + std::to_string(wish->header.bytes) + " are received");
    }
    std::memcpy(wish->data, letter->data.data(), letter->data.size());
    wish->granted = true;
    letters_.erase(letter);
    return true;
  });
}

}  // namespace hearth::plugins
