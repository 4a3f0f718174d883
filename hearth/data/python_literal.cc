#include "hearth/data/python_literal.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>

#include "hearth/base/check.h"
#include "hearth/io/json.h"
#include "hearth/io/text_cursor.h"
#include "hearth/io/utf8.h"

namespace hearth::data {
namespace {

using io::Json;

constexpr int kMaxDepth = 100;

class Parser : io::TextCursor {
 public:
  Parser(std::string_view text, std::string_view name) : TextCursor(text), name_(name) {}

  Json document() {
    Json parsed = value(0);
    skip_space();
    if (at_ != text_.size()) wrong("text after the end");
    return parsed;
  }

 private:
  Json value(int depth) {
    if (depth > kMaxDepth) wrong("it is nested too deep");
    skip_space();
    if (accept("{")) return dict(depth);
    if (accept("[")) return list("]", depth);
    if (accept("(")) return list(")", depth);
    if (accept("array(")) return array(depth);
    if (accept("True")) return true;
    if (accept("False")) return false;
    if (accept("None")) return nullptr;
    if (peek() == '\'' || peek() == '"') return string();
    return number();
  }

  Json dict(int depth) {
    Json object = Json::object();
    while (!accept_spaced("}")) {
      skip_space();
      const std::string key = string();
      if (!accept_spaced(":")) wrong("\":\" was expected");
      object[key] = value(depth + 1);
      if (!accept_spaced(",") && peek() != '}') wrong("\",\" or \"}\" was expected");
    }
    return object;
  }

  Json list(std::string_view end, int depth) {
    Json items = Json::array();
    while (!accept_spaced(end)) {
      items.push_back(value(depth + 1));
      if (!accept_spaced(",") && peek() != end[0]) wrong("\",\" or the end of the list was expected");
    }
    return items;
  }

  // array([...], dtype=...)
  Json array(int depth) {
    Json items = value(depth + 1);
    const std::size_t end = text_.find(')', at_);
    if (!items.is_array() || end == text_.npos) wrong("an array was expected");
    at_ = end + 1;
    return items;
  }

  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') wrong("a string was expected");
    ++at_;
    std::string result;
    while (peek() != quote) {
      if (at_ >= text_.size()) wrong("a string has no closing quote");
      if (const char c = text_[at_++]; c != '\\') {
        result.push_back(c);
      } else {
        append_escape(result);
      }
    }
    ++at_;
    return result;
  }

  void append_escape(std::string& result) {
    constexpr std::string_view kLetters = "\\'\"abfnrtv", kMeanings = "\\'\"\a\b\f\n\r\t\v";
    const char letter = peek();
    ++at_;
    if (const auto known = kLetters.find(letter); known != kLetters.npos) {
      result.push_back(kMeanings[known]);
    } else if (letter == 'x' || letter == 'u' || letter == 'U') {
      io::append_utf8(result, hex(letter == 'x' ? 2 : letter == 'u' ? 4 : 8));
    } else {
      wrong("an unknown escape inside a string");
    }
  }

  char32_t hex(std::size_t digits) {
    const std::string_view number = text_.substr(at_, digits);
    std::uint32_t code_point = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), code_point, 16);
    const bool surrogate = code_point >= 0xD800 && code_point < 0xE000;
    if (error != std::errc{} || end != number.data() + digits || surrogate || code_point > 0x10FFFF) {
      wrong("an unknown escape inside a string");
    }
    at_ += digits;
    return code_point;
  }

  Json number() {
    const char* const begin = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    std::int64_t whole = 0;
    double real = 0;
    const auto as_whole = std::from_chars(begin, end, whole);
    const auto as_real = std::from_chars(begin, end, real);
    if (as_real.ec != std::errc{}) wrong("a value was expected");
    at_ += static_cast<std::size_t>(as_real.ptr - begin);
    if (as_whole.ec == std::errc{} && as_whole.ptr == as_real.ptr) return whole;
    return real;
  }

  bool accept_spaced(std::string_view token) {
    skip_space();
    return accept(token);
  }

  [[noreturn]] void wrong(std::string_view what) const {
    fail("{} is neither JSON nor a Python literal: character {}: {}", name_, at_ + 1, what);
  }

  std::string_view name_;
};

}  // namespace

io::Json parse_python_literal(std::string_view text, std::string_view name) {
  try {
    return io::parse_json(text, name);
  } catch (const Error&) {
    return Parser(text, name).document();
  }
}

}  // namespace hearth::data
