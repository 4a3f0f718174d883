#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/io/json.h"
#include "hearth/io/utf8.h"

namespace hearth::io {
namespace {

// Like Python's repr: the fewest digits that read back as the same number; an exponent below 1e-4 and from 1e16 on.
std::string python_float(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  char buffer[32];
  const auto shortest = std::to_chars(buffer, std::end(buffer), value, std::chars_format::scientific);
  const std::string_view scientific(buffer, static_cast<std::size_t>(shortest.ptr - buffer));
  int exponent = 0;
  const std::size_t mark = scientific.find('e');
  const std::size_t sign_length = scientific[mark + 1] == '+' ? 2 : 1;  // from_chars accepts no plus sign
  std::from_chars(buffer + mark + sign_length, shortest.ptr, exponent);
  if (exponent < -4 || exponent >= 16) return std::string(scientific);
  const auto plain = std::to_chars(buffer, std::end(buffer), value, std::chars_format::fixed);
  std::string result(buffer, plain.ptr);
  return result.find('.') == result.npos ? result + ".0" : result;
}

class Writer {
 public:
  Writer(int indent, bool sort_keys) : indent_(indent), sort_keys_(sort_keys) {}

  void write(const Json& value) {
    switch (value.type()) {
      case Json::value_t::null:
        out_ += "null";
        return;
      case Json::value_t::boolean:
        out_ += value.get<bool>() ? "true" : "false";
        return;
      case Json::value_t::number_integer:
        out_ += std::to_string(value.get<std::int64_t>());
        return;
      case Json::value_t::number_unsigned:
        out_ += std::to_string(value.get<std::uint64_t>());
        return;
      case Json::value_t::number_float:
        out_ += python_float(value.get<double>());
        return;
      case Json::value_t::string:
        write_string(value.get_ref<const std::string&>());
        return;
      case Json::value_t::array:
        write_array(value);
        return;
      case Json::value_t::object:
        write_object(value);
        return;
      case Json::value_t::binary:
      case Json::value_t::discarded:
        break;
    }
    fail("[dump_json] a value of type \"{}\" cannot be written as JSON", value.type_name());
  }

  std::string take() { return std::move(out_); }

 private:
  void write_array(const Json& array) {
    open('[');
    for (const Json& item : array) {
      begin_item(&item == &array.front());
      write(item);
    }
    close(']', array.empty());
  }

  void write_object(const Json& object) {
    std::vector<const Json::object_t::value_type*> members;
    for (const auto& member : object.get_ref<const Json::object_t&>()) members.push_back(&member);
    // Bytes of UTF-8 sort like code points, which is how Python sorts strings.
    if (sort_keys_) std::ranges::sort(members, {}, [](const auto* member) { return std::string_view(member->first); });
    open('{');
    for (const auto* member : members) {
      begin_item(member == members.front());
      write_string(member->first);
      out_ += ": ";
      write(member->second);
    }
    close('}', members.empty());
  }

  void open(char bracket) {
    out_ += bracket;
    ++depth_;
  }

  void begin_item(bool first) {
    if (!first) out_ += indent_ < 0 ? ", " : ",";
    begin_line();
  }

  void close(char bracket, bool empty) {
    --depth_;
    if (!empty) begin_line();
    out_ += bracket;
  }

  void begin_line() {
    if (indent_ < 0) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(indent_) * depth_, ' ');
  }

  void write_string(std::string_view text) {
    out_ += '"';
    for (std::size_t at = 0; at < text.size();) {
      const char32_t code_point = next_code_point(text, at);
      check(code_point != kNotUtf8, "[dump_json] a string is not valid UTF-8 at byte {}", at);
      write_character(code_point);
    }
    out_ += '"';
  }

  void write_character(char32_t c) {
    constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
    if (const auto letter = c < 0x80 ? kEscaped.find(static_cast<char>(c)) : kEscaped.npos; letter != kEscaped.npos) {
      out_ += '\\';
      out_ += kLetters[letter];
    } else if (0x20 <= c && c < 0x7F) {
      out_ += static_cast<char>(c);
    } else if (c < 0x10000) {
      write_utf16(c);
    } else {
      write_utf16(0xD800 + ((c - 0x10000) >> 10));
      write_utf16(0xDC00 + ((c - 0x10000) & 0x3FF));
    }
  }

  void write_utf16(char32_t unit) {
    fmt::format_to(std::back_inserter(out_), "\\u{:04x}", static_cast<unsigned>(unit));
  }

  int indent_;
  bool sort_keys_;
  std::size_t depth_ = 0;
  std::string out_;
};

}  // namespace

std::string dump_json(const Json& value, int indent, bool sort_keys) {
  Writer writer(indent, sort_keys);
  writer.write(value);
  return writer.take();
}

std::string excerpt(const Json& value) {
  constexpr std::size_t kLongest = 120;
  const std::string text = dump_json(value, kOneLine);
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

}  // namespace hearth::io
