#include "hearth/tokenizer/unicode.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <vector>

#include "hearth/io/utf8.h"
#include "hearth/tokenizer/unicode_tables.h"

namespace hearth::tokenizer {
namespace {

constexpr std::size_t kCodePoints = 0x110000;
constexpr char32_t kFirstHangul = 0xAC00, kLastHangul = 0xD7A3;
constexpr CodePointRange kHangul{kFirstHangul, kLastHangul}, kJamoVowels{0x1161, 0x1175}, kJamoFinals{0x11A8, 0x11C2};

class TraitTable {
 public:
  void mark(CodePointRange range, std::uint32_t trait) {
    for (char32_t c = range.first; c <= range.last; ++c) traits_[c] |= trait;
  }
  void mark(std::span<const CodePointRange> ranges, std::uint32_t trait) {
    for (const CodePointRange& range : ranges) mark(range, trait);
  }
  void mark(std::span<const DecompositionEntry> entries, std::uint32_t trait) {
    for (const DecompositionEntry& entry : entries) traits_[entry.from] |= trait;
  }
  void clear(char32_t c, std::uint32_t trait) { traits_[c] &= ~trait; }
  const std::vector<std::uint32_t>& traits() const { return traits_; }

 private:
  std::vector<std::uint32_t> traits_ = std::vector<std::uint32_t>(kCodePoints);
};

void mark_normal_forms(TraitTable& table) {
  table.mark(kCanonical, kDecomposable | kNotInert);
  for (const Composition& pair : kCompositions) table.clear(pair.composed, kNotInert);
  table.mark(kCompatible, kHasCompatible);
  for (const CombiningClass& one : kCombiningClasses) table.mark({one.first, one.last}, kDecomposable | kNotInert);
  for (const Composition& pair : kCompositions) table.mark({pair.second, pair.second}, kNotInert);
  table.mark(kHangul, kDecomposable);
  table.mark(kJamoVowels, kNotInert);
  table.mark(kJamoFinals, kNotInert);
}

std::vector<std::uint32_t> make_traits() {
  TraitTable table;
  table.mark(kControls, kControl);
  table.mark({kReplacementCharacter, kReplacementCharacter}, kControl);
  table.mark(kSpaces, kSpace);
  table.mark(kIdeographs, kIdeograph);
  table.mark(kPunctuationMarks, kPunctuation);
  table.mark(kNonspacingMarks, kMark);
  table.mark(kCombiningMarks, kCombining);
  table.mark(kLetters, kLetter);
  table.mark(kNumbers, kNumber);
  table.mark(kCapitals, kCapital);
  table.mark(kSmallLetters, kSmall);
  table.mark(kMarks, kAnyMark);
  table.mark(kNumerics, kNumeric);
  table.mark(kWordCharacters, kWordCharacter);
  mark_normal_forms(table);
  for (const CodePointMapping& one : kLowercase)
    for (char32_t c = one.first; c <= one.last; c += one.step) table.mark({c, c}, kUppercase);
  table.mark({kCapitalIWithDot, kCapitalIWithDot}, kUppercase);
  table.mark(kClusterExtenders, kClusterExtender);
  table.mark(kClusterControls, kClusterControl);
  table.mark(kClusterPrepends, kClusterPrepend);
  table.mark(kConjunctConsonants, kConjunctConsonant);
  table.mark(kConjunctLinkers, kConjunctLinker);
  table.mark(kConjunctExtenders, kConjunctExtender);
  table.mark(kPictographs, kPictograph);
  table.mark(kPythonCased, kPythonCase);
  table.mark(kPythonCaseIgnorable, kPythonIgnorable);
  table.mark(kPythonAlphanumeric, kPythonAlnum);
  return table.traits();
}

// The entry of a sorted table whose range holds `c`, or null.
template <class Entry>
const Entry* entry_with(std::span<const Entry> table, char32_t c) {
  const auto after = std::ranges::upper_bound(table, c, {}, &Entry::first);
  return after == table.begin() || std::prev(after)->last < c ? nullptr : &*std::prev(after);
}

std::u32string_view find_decomposition(std::span<const DecompositionEntry> table, char32_t c) {
  const auto found = std::ranges::lower_bound(table, c, {}, &DecompositionEntry::from);
  if (found == table.end() || found->from != c) return {};
  return {kDecompositionPool + found->place, found->size};
}

}  // namespace

const std::uint32_t* character_traits() {
  static const std::vector<std::uint32_t> traits = make_traits();
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

std::string with_replacements(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) io::append_utf8(result, read_code_point(text, at));
  return result;
}

std::u32string_view decomposition(char32_t c, Decomposing kind) {
  if (kind == Decomposing::compatible && has_trait(c, kHasCompatible)) return find_decomposition(kCompatible, c);
  return has_trait(c, kDecomposable) ? find_decomposition(kCanonical, c) : std::u32string_view();
}

int combining_class(char32_t c) {
  if (!has_trait(c, kDecomposable)) return 0;
  const CombiningClass* found = entry_with(std::span<const CombiningClass>(kCombiningClasses), c);
  return found ? found->order : 0;
}

std::optional<char32_t> composition(char32_t first, char32_t second) {
  const auto key = [](const Composition& pair) { return std::tuple(pair.first, pair.second); };
  const auto found = std::ranges::lower_bound(kCompositions, std::tuple(first, second), {}, key);
  if (found == std::end(kCompositions) || key(*found) != std::tuple(first, second)) return std::nullopt;
  return found->composed;
}

char32_t lowercase(char32_t c) {
  if (!has_trait(c, kUppercase)) return c;
  const CodePointMapping* found = entry_with(std::span<const CodePointMapping>(kLowercase), c);
  if (!found || (c - found->first) % found->step != 0) return c;
  return static_cast<char32_t>(static_cast<std::int32_t>(c) + found->distance);
}

}  // namespace hearth::tokenizer
