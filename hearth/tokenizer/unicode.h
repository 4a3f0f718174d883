#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hearth::tokenizer {

// Properties of characters that normalizers and pre-tokenizers ask for. They come from several versions of Unicode, as
// in Hugging Face's library (unicode_tables.h).
enum Trait : std::uint32_t {
  kControl = 1 << 0,         // removed by clean_text
  kSpace = 1 << 1,           // White_Space
  kIdeograph = 1 << 2,       // a word of its own to BERT
  kPunctuation = 1 << 3,     // a word of its own
  kMark = 1 << 4,            // nonspacing: an accent to BERT, after decomposition
  kDecomposable = 1 << 5,    // may have a canonical decomposition or a combining class
  kUppercase = 1 << 6,       // may have a lower case
  kCombining = 1 << 7,       // a combining mark, removed by StripAccents
  kLetter = 1 << 8,          // \p{L}
  kNumber = 1 << 9,          // \p{N}
  kCapital = 1 << 10,        // \p{Lu}, \p{Lt}
  kSmall = 1 << 11,          // \p{Ll}
  kAnyMark = 1 << 12,        // \p{M}
  kNumeric = 1 << 13,        // split off by the pre-tokenizer Digits
  kWordCharacter = 1 << 14,  // \w of the pre-tokenizer Whitespace and of single_word
  kHasCompatible = 1 << 15,  // has a compatibility decomposition
  kNotInert = 1 << 16,       // NFC may change it or compose it with what stands before it
  // Grapheme clusters.
  kClusterExtender = 1 << 17,
  kClusterControl = 1 << 18,
  kClusterPrepend = 1 << 19,
  kConjunctConsonant = 1 << 20,
  kConjunctLinker = 1 << 21,
  kConjunctExtender = 1 << 22,
  kPictograph = 1 << 23,
  // Methods of Python's str (text.h).
  kPythonCase = 1 << 24,
  kPythonIgnorable = 1 << 25,
  kPythonAlnum = 1 << 26,
};

// The traits of every code point.
const std::uint32_t* character_traits();
inline bool has_trait(char32_t c, std::uint32_t traits) { return (character_traits()[c] & traits) != 0; }

inline constexpr char32_t kReplacementCharacter = 0xFFFD;
inline constexpr char32_t kCapitalIWithDot = 0x130, kDotAbove = 0x307;

// Returns the code point that begins at text[at] and moves `at` behind it. A byte that is not UTF-8 gives U+FFFD.
char32_t read_code_point(std::string_view text, std::size_t& at);
std::int32_t count_code_points(std::string_view text);
std::string with_replacements(std::string_view text);  // bytes that are not UTF-8 become U+FFFD

enum class Decomposing { canonical, compatible };
// The full decomposition; empty if there is none. Hangul syllables are not in the tables.
std::u32string_view decomposition(char32_t c, Decomposing kind);
int combining_class(char32_t c);
// The character that two compose to; Hangul is not in the tables.
std::optional<char32_t> composition(char32_t first, char32_t second);

// The lower case of a character; that of U+0130 is two characters and must be treated apart.
char32_t lowercase(char32_t c);

}  // namespace hearth::tokenizer
