#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::tokenizer {

// Properties of characters that BERT's normalizer and pre-tokenizer ask for. They come from three versions of Unicode,
// as in Hugging Face's library: categories of Unicode 8, decompositions of Unicode 9, lower case of Unicode 17.
enum Trait : std::uint8_t {
  kControl = 1,        // removed by clean_text
  kSpace = 2,          // splits words
  kIdeograph = 4,      // is a word of its own
  kPunctuation = 8,    // is a word of its own
  kMark = 16,          // an accent, after decomposition
  kDecomposable = 32,  // may have a decomposition or a combining class
  kUppercase = 64,     // may have a lower case
};

// The traits of every code point, one byte each.
const std::uint8_t* character_traits();

inline constexpr char32_t kReplacementCharacter = 0xFFFD;

// Returns the code point that begins at text[at] and moves `at` behind it. A byte that is not UTF-8 gives U+FFFD.
char32_t read_code_point(std::string_view text, std::size_t& at);
std::int32_t count_code_points(std::string_view text);

struct Decomposition {
  std::array<char32_t, 4> characters;
  std::size_t size;
};
Decomposition decompose(char32_t decomposable);  // the full canonical decomposition
int combining_class(char32_t decomposable);

// The lower case of a character; U+0130, whose lower case is two characters, must be treated apart.
char32_t lowercase(char32_t c);

// Whether \w of a regular expression matches.
bool is_word_character(char32_t c);

std::string utf8proc_version();

}  // namespace hearth::tokenizer
