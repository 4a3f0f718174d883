#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::tokenizer {

// What a character is to BERT's normaliser and word splitter. Hugging Face's library carries tables of several ages,
// and so do these: categories of Unicode 8, decompositions of Unicode 9, lower case of Unicode 17.
enum Trait : std::uint8_t {
  kControl = 1,        // what cleaning removes
  kSpace = 2,          // where words are split
  kIdeograph = 4,      // a word of its own
  kPunctuation = 8,    // a word of its own
  kMark = 16,          // an accent, once decomposed
  kDecomposable = 32,  // may have a decomposition or a combining class
  kUppercase = 64,     // may have a lower case
};

// One byte of traits for each code point.
const std::uint8_t* character_traits();

inline constexpr char32_t kReplacementCharacter = 0xFFFD;

// The code point that begins at text[at], and `at` moved behind it. A byte that is not UTF-8 is U+FFFD.
char32_t read_code_point(std::string_view text, std::size_t& at);
std::int32_t count_code_points(std::string_view text);

struct Decomposition {
  std::array<char32_t, 4> characters;
  std::size_t size;
};
Decomposition decompose(char32_t decomposable);  // canonical, to the end
int combining_class(char32_t decomposable);

// Of single characters: all but U+0130, whose lower case is two.
char32_t lowercase(char32_t c);

// Whether a regular expression's \w matches.
bool is_word_character(char32_t c);

std::string utf8proc_version();

}  // namespace hearth::tokenizer
