#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::tokenizer {

// A character of the normalised text, and which code point of the original text it comes from. Origins never decrease.
struct Character {
  char32_t value;
  std::int32_t origin;
};
using Characters = std::vector<Character>;

// `first` is the origin of the text's first code point.
Characters decode_utf8(std::string_view text, std::int32_t first);
// Appends the text, and for each of its bytes the origin.
void encode_utf8(std::span<const Character> characters, std::string& text, std::vector<std::int32_t>& origins);

// How a character of a new text came about: 0 it replaces one character of the old text, -n it also stands for the n
// characters behind that one, 1 it was inserted and has the origin of the character before it in the old text.
struct Change {
  char32_t value;
  int change;
};
// Makes the new text, as NormalizedString::transform of Hugging Face's library does.
void transform(Characters& characters, std::span<const Change> changes);

}  // namespace hearth::tokenizer
