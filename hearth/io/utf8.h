#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hearth::io {

inline constexpr char32_t kNotUtf8 = 0xFFFFFFFF;

// The code point that begins at text[at], and `at` moved behind it; kNotUtf8, and `at` left alone, where there is none
// (cut off, overlong, a surrogate, beyond U+10FFFF).
char32_t next_code_point(std::string_view text, std::size_t& at);

bool is_utf8(std::string_view text);

void append_utf8(std::string& text, char32_t code_point);

}  // namespace hearth::io
