#include "hearth/io/utf8.h"

namespace hearth::io {

char32_t next_code_point(std::string_view text, std::size_t& at) {
  if (at >= text.size()) return kNotUtf8;
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) {
    ++at;
    return first;
  }
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() - at < length) return kNotUtf8;
  char32_t code_point = first & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[at + i]);
    if ((next & 0xC0u) != 0x80u) return kNotUtf8;
    code_point = code_point << 6 | (next & 0x3Fu);
  }
  const bool overlong = code_point < (length == 4 ? 0x10000u : length == 3 ? 0x800u : 0x80u);
  const bool surrogate = 0xD800 <= code_point && code_point < 0xE000;
  if (overlong || surrogate || code_point > 0x10FFFF) return kNotUtf8;
  at += length;
  return code_point;
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();)
    if (next_code_point(text, at) == kNotUtf8) return false;
  return true;
}

void append_utf8(std::string& text, char32_t code_point) {
  const auto add = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  const auto add_rest = [&](int shift) { add(0x80 | (code_point >> shift & 0x3F)); };
  if (code_point < 0x80) {
    add(code_point);
  } else if (code_point < 0x800) {
    add(0xC0 | code_point >> 6);
    add_rest(0);
  } else if (code_point < 0x10000) {
    add(0xE0 | code_point >> 12);
    add_rest(6);
    add_rest(0);
  } else {
    add(0xF0 | code_point >> 18);
    add_rest(12);
    add_rest(6);
    add_rest(0);
  }
}

}  // namespace hearth::io
