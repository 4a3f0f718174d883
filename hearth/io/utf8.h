#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hearth::io {

inline constexpr char32_t kNotUtf8 = 0xFFFFFFFF;

// Returns the code point at text[at] and moves `at` past it. Returns kNotUtf8 and leaves `at` alone if there is no
// valid one (cut off, overlong, a surrogate, beyond U+10FFFF).
char32_t next_code_point(std::string_view text, std::size_t& at);

bool is_utf8(std::string_view text);

void append_utf8(std::string& text, char32_t code_point);

}  // namespace hearth::io
