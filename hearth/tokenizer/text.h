#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Methods of Python's str, for UTF-8 text. Lengths and positions count code points.
namespace hearth::tokenizer::python {

std::int64_t length(std::string_view text);
std::string_view slice(std::string_view text, std::int64_t begin, std::int64_t end);  // text[begin:end], 0 <= begin
std::string_view suffix(std::string_view text, std::int64_t begin);                   // text[begin:], 0 <= begin

std::string_view lstrip(std::string_view text);
std::vector<std::string_view> split(std::string_view text);
std::string lower(std::string_view text);  // final sigma included
bool is_word(char32_t code_point);         // \w of a regular expression

}  // namespace hearth::tokenizer::python
