#pragma once

#include <cstddef>
#include <string_view>

namespace hearth::io {

// A place in a text, for parsers to derive from.
class TextCursor {
 protected:
  explicit TextCursor(std::string_view text) : text_(text) {}

  void skip_space() {
    while (peek() == ' ' || peek() == '\n' || peek() == '\t' || peek() == '\r') ++at_;
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }  // the next character; NUL at the end

  // Whether `token` comes next; it is then passed.
  bool accept(std::string_view token) {
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace hearth::io
