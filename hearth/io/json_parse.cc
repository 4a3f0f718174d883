#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/io/json.h"
#include "hearth/io/text_cursor.h"
#include "hearth/io/utf8.h"

namespace hearth::io {
namespace {

constexpr int kMaxDepth = 1000;

// Not nlohmann's own parser: that one refuses the NaN and Infinity of Python's files, drops equal keys unseen, and
// takes time quadratic in the number of an object's keys to keep their order.
class Parser : TextCursor {
 public:
  enum class EqualKeys { last_counts, refused };

  Parser(std::string_view text, std::string_view name, EqualKeys equal_keys)
      : TextCursor(text), name_(name), equal_keys_(equal_keys) {}

  Json document() {
    accept("\xEF\xBB\xBF");  // a byte order mark
    Json value = spaced_value(0);
    if (at_ != text_.size()) wrong("text after the end of the document");
    return value;
  }

 private:
  Json spaced_value(int depth) {
    skip_space();
    Json parsed = value(depth);
    skip_space();
    return parsed;
  }

  Json value(int depth) {
    if (depth > kMaxDepth) wrong(fmt::format("nested deeper than {} levels", kMaxDepth));
    if (accept("{")) return object(depth);
    if (accept("[")) return array(depth);
    if (accept("\"")) return string();
    if (accept("true")) return true;
    if (accept("false")) return false;
    if (accept("null")) return nullptr;
    if (accept("NaN")) return std::numeric_limits<double>::quiet_NaN();
    if (accept("Infinity")) return std::numeric_limits<double>::infinity();
    if (accept("-Infinity")) return -std::numeric_limits<double>::infinity();
    if (peek() == '-' || is_digit(peek())) return number();
    wrong("a value was expected");
  }

  Json object(int depth) {
    std::vector<std::pair<std::string, Json>> members;
    skip_space();
    if (!accept("}")) {
      do {
        skip_space();
        expect("\"", "a key in double quotes");
        std::string key = string();
        skip_space();
        expect(":", "\":\"");
        members.emplace_back(std::move(key), spaced_value(depth + 1));
      } while (accept(","));
      expect("}", "\",\" or \"}\"");
    }
    return object_of(std::move(members));
  }

  Json object_of(std::vector<std::pair<std::string, Json>>&& members) {
    Json json = Json::object();
    auto& object = json.get_ref<Json::object_t&>();
    object.reserve(members.size());  // no element moves from here on: `places` looks at the keys
    std::unordered_map<std::string_view, std::size_t> places;
    for (auto& [key, value] : members) {
      if (const auto place = places.find(key); place != places.end()) {
        if (equal_keys_ == EqualKeys::refused) fail("{} has the key {} twice", name_, excerpt(key));
        object.begin()[static_cast<std::ptrdiff_t>(place->second)].second = std::move(value);
      } else {
        object.emplace_back(std::move(key), std::move(value));
        places.emplace(object.back().first, object.size() - 1);
      }
    }
    return json;
  }

  Json array(int depth) {
    Json json = Json::array();
    skip_space();
    if (accept("]")) return json;
    auto& items = json.get_ref<Json::array_t&>();
    do items.push_back(spaced_value(depth + 1));
    while (accept(","));
    expect("]", "\",\" or \"]\"");
    return json;
  }

  std::string string() {
    std::string result;
    while (!accept("\"")) {
      if (at_ == text_.size()) wrong("a string without its closing quote");
      const char c = text_[at_];
      if (c == '\\') {
        ++at_;
        append_escape(result);
      } else if (static_cast<unsigned char>(c) < 0x20) {
        wrong("a control character inside a string");
      } else {
        append_plain(result);
      }
    }
    return result;
  }

  void append_plain(std::string& result) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_plain_ascii(text_[at_])) ++at_;
    if (at_ == begin && next_code_point(text_, at_) == kNotUtf8) wrong("bytes that are not UTF-8");
    result.append(text_, begin, at_ - begin);
  }

  void append_escape(std::string& result) {
    constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    if (accept("u")) {
      append_utf8(result, escaped_code_point());
    } else if (const auto letter = kLetters.find(peek()); letter != kLetters.npos) {
      result.push_back(kMeanings[letter]);
      ++at_;
    } else {
      wrong("an unknown escape inside a string");
    }
  }

  char32_t escaped_code_point() {
    const char32_t high = hex4();
    if (high < 0xD800 || high >= 0xE000) return high;
    const bool pair = high < 0xDC00 && accept("\\u");
    const char32_t low = pair ? hex4() : 0;
    if (low < 0xDC00 || low >= 0xE000) wrong("half of a surrogate pair");
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
  }

  char32_t hex4() {
    const std::string_view digits = text_.substr(at_, 4);
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error != std::errc{} || end - digits.data() != 4) wrong("four hexadecimal digits were expected");
    at_ += 4;
    return value;
  }

  Json number() {
    const std::size_t begin = at_;
    const bool negative = accept("-");
    if (!accept("0")) skip_digits();
    bool whole = true;
    if (accept(".")) {
      skip_digits();
      whole = false;
    }
    if (accept("e") || accept("E")) {
      if (!accept("+")) accept("-");
      skip_digits();
      whole = false;
    }
    const std::string_view digits = text_.substr(begin, at_ - begin);
    if (whole && !negative) {
      if (std::uint64_t value = 0; convert(digits, value)) return value;
    } else if (whole) {
      if (std::int64_t value = 0; convert(digits, value)) return value;
    }
    double value = 0;
    if (convert(digits, value)) return value;
    if (whole) {
      at_ = begin;
      wrong("a whole number beyond the range of a double");
    }
    value = is_below_one(digits) ? 0.0 : std::numeric_limits<double>::infinity();
    return negative ? -value : value;
  }

  // Tells numbers that are too small for a double from those that are too large: by the power of ten of the first
  // digit that is not zero.
  static bool is_below_one(std::string_view number) {
    const std::string_view mantissa = number.substr(0, number.find_first_of("eE"));
    const std::size_t first = mantissa.find_first_of("123456789"),
                      point = std::min(mantissa.find('.'), mantissa.size());
    const auto power =
        first < point ? static_cast<std::int64_t>(point - first) - 1 : -static_cast<std::int64_t>(first - point);
    return power + exponent_of(number.substr(mantissa.size())) < 0;
  }

  // "e-12" gives -12. An exponent too large for any text's mantissa to outweigh it is cut to one that still is.
  static std::int64_t exponent_of(std::string_view text) {
    constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max() / 2;
    const bool negative = text.find('-') != text.npos;
    const std::size_t digits = text.find_first_of("0123456789");
    std::int64_t value = 0;
    if (digits != text.npos && !convert(text.substr(digits), value)) value = kHuge;
    value = std::min(value, kHuge);
    return negative ? -value : value;
  }

  template <class Number>
  static bool convert(std::string_view digits, Number& value) {
    return std::from_chars(digits.data(), digits.data() + digits.size(), value).ec == std::errc{};
  }

  static bool is_plain_ascii(char c) { return ' ' <= c && c <= '~' && c != '"' && c != '\\'; }
  static bool is_digit(char c) { return '0' <= c && c <= '9'; }

  void skip_digits() {
    if (!is_digit(peek())) wrong("a digit was expected");
    while (is_digit(peek())) ++at_;
  }

  void expect(std::string_view token, std::string_view what) {
    if (!accept(token)) wrong(fmt::format("{} was expected", what));
  }

  [[noreturn]] void wrong(std::string_view what) const {
    std::size_t line = 1, column = 1;
    for (const char c : text_.substr(0, at_)) {
      const bool continues_character = (static_cast<unsigned char>(c) & 0xC0u) == 0x80u;
      if (c == '\n') {
        ++line;
        column = 1;
      } else if (!continues_character) {
        ++column;
      }
    }
    // A text without lines may be a line of a file, whose number its name has.
    const std::string place = text_.find('\n') == text_.npos ? "" : fmt::format("line {}, ", line);
    fail("{} is not valid JSON: {}column {}: {}", name_, place, column,
         at_ == text_.size() ? fmt::format("{}, but the text ends here", what) : std::string(what));
  }

  std::string_view name_;
  EqualKeys equal_keys_;
};

}  // namespace

Json parse_json(std::string_view text, std::string_view name) {
  return Parser(text, name, Parser::EqualKeys::last_counts).document();
}

Json parse_json_strict(std::string_view text, std::string_view name) {
  return Parser(text, name, Parser::EqualKeys::refused).document();
}

}  // namespace hearth::io
