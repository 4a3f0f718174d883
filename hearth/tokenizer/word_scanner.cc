#include "hearth/tokenizer/word_scanner.h"

#include <array>
#include <cstdint>
#include <utility>

#include "hearth/tokenizer/unicode.h"

namespace hearth::tokenizer {
namespace {

using Contractions = WordScanner::Contractions;
using Prefix = WordScanner::Prefix;

enum class Kind : std::uint8_t { letter, number, space, other };

Kind kind_of(char32_t c) {
  const std::uint32_t traits = character_traits()[c];
  if (traits & kLetter) return Kind::letter;
  if (traits & kNumber) return Kind::number;
  return traits & kSpace ? Kind::space : Kind::other;
}

const std::array<Kind, 128>& ascii_kinds() {
  static const std::array<Kind, 128> kinds = [] {
    std::array<Kind, 128> table{};
    for (char32_t c = 0; c < table.size(); ++c) table[c] = kind_of(c);
    return table;
  }();
  return kinds;
}

struct Reader {
  std::string_view text;
  const std::array<Kind, 128>& kinds = ascii_kinds();

  bool ends(std::size_t at) const { return at >= text.size(); }
  // The kind of the character at `at`, which is moved behind it.
  Kind next(std::size_t& at) const {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte >= 0x80) return kind_of(read_code_point(text, at));
    ++at;
    return kinds[byte];
  }
  Kind kind(std::size_t at) const { return next(at); }
  std::size_t end_of_run(std::size_t at, Kind kind) const {
    for (std::size_t end = at; !ends(at); at = end)
      if (next(end) != kind) break;
    return at;
  }
  bool is_newline(std::size_t at) const { return text[at] == '\r' || text[at] == '\n'; }
  std::size_t end_of_newlines(std::size_t at) const {
    while (!ends(at) && is_newline(at)) ++at;
    return at;
  }
};

// The length of the contraction that the text begins with; 0: none. Ignoring case, U+017F is an s.
std::size_t contraction(std::string_view text, Contractions contractions) {
  if (text.size() < 2 || text[0] != '\'') return 0;
  const bool any_case = contractions == Contractions::any_case;
  const auto letter = [&](std::size_t at) {
    if (at >= text.size()) return '\0';
    const char c = text[at];
    return any_case && 'A' <= c && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  };
  switch (letter(1)) {
    case 's':
    case 't':
    case 'm':
    case 'd':
      return 2;
    case 'r':
    case 'v':
      return letter(2) == 'e' ? 3 : 0;
    case 'l':
      return letter(2) == 'l' ? 3 : 0;
    default:
      return any_case && text.substr(1).starts_with("\u017F") ? 3 : 0;
  }
}

// A run of spaces that a word follows leaves that word its last space, unless it has no other.
std::size_t end_of_spaces(const Reader& reader, std::size_t at, bool knows_newlines) {
  const std::size_t end = reader.end_of_run(at, Kind::space);
  std::size_t last = end;
  for (std::size_t i = end; knows_newlines && i > at; --i)
    if (reader.is_newline(i - 1)) return i;
  if (reader.ends(end)) return end;
  for (std::size_t next = at; next < end;) {
    last = next;
    reader.next(next);
  }
  return last > at ? last : end;
}

}  // namespace

std::size_t WordScanner::end_of_word(std::string_view text, std::size_t at) const {
  const Reader reader{text};
  if (text[at] == '\'')
    if (const std::size_t length = contraction(text.substr(at), contractions)) return at + length;
  std::size_t second = at;  // the place of the second character
  const Kind kind = reader.next(second);
  const Kind following = reader.ends(second) ? Kind::space : reader.kind(second);
  const bool is_blank = text[at] == ' ';
  if (kind == Kind::letter) return reader.end_of_run(second, Kind::letter);
  if (following == Kind::letter &&
      (before_letters == Prefix::space ? is_blank : kind != Kind::number && !reader.is_newline(at)))
    return reader.end_of_run(second, Kind::letter);
  if (kind == Kind::number && most_digits > 0) {
    for (std::size_t digits = 1; digits < most_digits && !reader.ends(second); ++digits)
      if (std::size_t after = second; reader.next(after) == Kind::number) second = after;
    return second;
  }
  if (kind == Kind::number || (following == Kind::number && is_blank && space_before_numbers))
    return reader.end_of_run(second, Kind::number);
  const bool is_prefix = before_others == Prefix::any_space ? kind == Kind::space : is_blank;
  if (kind == Kind::other || (is_prefix && following == Kind::other)) {
    const std::size_t end = reader.end_of_run(second, Kind::other);
    return knows_newlines ? reader.end_of_newlines(end) : end;
  }
  return end_of_spaces(reader, at, knows_newlines);
}

const WordScanner& gpt2_scanner() {
  static constexpr WordScanner kScanner;
  return kScanner;
}

std::optional<WordScanner> scanner_of(std::string_view regular_expression) {
  static constexpr WordScanner kGpt2;
  static constexpr WordScanner kQwen2{Contractions::any_case, Prefix::no_newline, Prefix::space, false, 1, true};
  static constexpr WordScanner kQwen2AnySpace{
      Contractions::any_case, Prefix::no_newline, Prefix::any_space, false, 1, true};
  static constexpr WordScanner kLlama3{Contractions::any_case, Prefix::no_newline, Prefix::space, false, 3, true};
  static constexpr std::pair<std::string_view, const WordScanner*> kKnown[] = {
      {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", &kGpt2},
      {R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", &kGpt2},
      {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
       &kQwen2},
      {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|\s?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
       &kQwen2AnySpace},
      {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
       &kLlama3},
  };
  for (const auto& [pattern, scanner] : kKnown)
    if (pattern == regular_expression) return *scanner;
  return std::nullopt;
}

}  // namespace hearth::tokenizer
