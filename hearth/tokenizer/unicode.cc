#include "hearth/tokenizer/unicode.h"

#include <utf8proc.h>

#include <span>
#include <vector>

#include "hearth/io/utf8.h"
#include "hearth/tokenizer/unicode_ranges.h"

namespace hearth::tokenizer {
namespace {

constexpr std::size_t kCodePoints = 0x110000;
constexpr char32_t kAfterLastUppercase = 0x20000;

// Lower case that came after Unicode 14.
struct LowercaseRange {
  CodePointRange range;
  std::int32_t step;
};
constexpr LowercaseRange kNewLowercase[] = {
    {{0x1C89, 0x1C89}, 1},      {{0xA7CB, 0xA7CB}, -42343}, {{0xA7CC, 0xA7CC}, 1}, {{0xA7CE, 0xA7CE}, 1},
    {{0xA7D2, 0xA7D2}, 1},      {{0xA7D4, 0xA7D4}, 1},      {{0xA7DA, 0xA7DA}, 1}, {{0xA7DC, 0xA7DC}, -42561},
    {{0x10D50, 0x10D65}, 0x20}, {{0x16EA0, 0x16EB8}, 0x1B},
};

std::vector<std::uint8_t> make_traits() {
  std::vector<std::uint8_t> traits(kCodePoints);
  const auto mark = [&](std::span<const CodePointRange> ranges, Trait trait) {
    for (const auto [first, last] : ranges)
      for (char32_t c = first; c <= last; ++c) traits[c] |= trait;
  };
  mark(kControls, kControl);
  mark(kSpaces, kSpace);
  mark(kIdeographs, kIdeograph);
  mark(kPunctuationMarks, kPunctuation);
  mark(kNonspacingMarks, kMark);
  mark(kNormalizable, kDecomposable);
  traits[kReplacementCharacter] |= kControl;
  for (char32_t c = 0; c < kAfterLastUppercase; ++c)
    if (lowercase(c) != c) traits[c] |= kUppercase;
  return traits;
}

}  // namespace

const std::uint8_t* character_traits() {
  static const std::vector<std::uint8_t> traits = make_traits();
  return traits.data();
}

char32_t read_code_point(std::string_view text, std::size_t& at) {
  const char32_t c = io::next_code_point(text, at);
  if (c != io::kNotUtf8) return c;
  ++at;
  return kReplacementCharacter;
}

std::int32_t count_code_points(std::string_view text) {
  std::int32_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) read_code_point(text, at);
  return count;
}

Decomposition decompose(char32_t decomposable) {
  std::array<utf8proc_int32_t, 4> characters{};
  int last_boundclass = 0;
  const auto size = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(decomposable), characters.data(),
                                            characters.size(), UTF8PROC_DECOMPOSE, &last_boundclass);
  Decomposition result{{}, static_cast<std::size_t>(size)};
  for (std::size_t i = 0; i < result.size; ++i) result.characters[i] = static_cast<char32_t>(characters[i]);
  return result;
}

int combining_class(char32_t decomposable) {
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(decomposable))->combining_class;
}

char32_t lowercase(char32_t c) {
  for (const auto& [range, step] : kNewLowercase)
    if (range.first <= c && c <= range.last) return static_cast<char32_t>(static_cast<std::int32_t>(c) + step);
  return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}

bool is_word_character(char32_t c) {
  const auto within = [c](char32_t first, char32_t last) { return first <= c && c <= last; };
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    // Letters in circles and squares, and the joiners.
    default:
      return within(0x24B6, 0x24E9) || within(0x1F130, 0x1F149) || within(0x1F150, 0x1F169) ||
             within(0x1F170, 0x1F189) || within(0x200C, 0x200D);
  }
}

std::string utf8proc_version() { return ::utf8proc_version(); }

}  // namespace hearth::tokenizer
