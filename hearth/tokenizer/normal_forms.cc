// Unicode's normal forms, with the origins that Hugging Face's library gives: a character that a decomposition inserts,
// or that composition removes, moves the origins of the characters behind it, even where marks were reordered.

#include "hearth/tokenizer/normal_forms.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace hearth::tokenizer {
namespace {

// Hangul syllables are computed: leading consonant, vowel, perhaps a final consonant.
constexpr char32_t kSyllables = 0xAC00, kLeads = 0x1100, kVowels = 0x1161, kBeforeFinals = 0x11A7;
constexpr char32_t kLeadCount = 19, kVowelCount = 21, kFinalCount = 28;
constexpr char32_t kSyllableCount = kLeadCount * kVowelCount * kFinalCount;

bool is_syllable(char32_t c) { return kSyllables <= c && c < kSyllables + kSyllableCount; }

struct Part {
  Change change;
  int combining_class;
};

template <class Emit>
void for_each_part(char32_t c, Decomposing kind, const Emit& emit) {
  if (is_syllable(c)) {
    const char32_t index = c - kSyllables;
    emit(kLeads + index / (kVowelCount * kFinalCount));
    emit(kVowels + index / kFinalCount % kVowelCount);
    if (index % kFinalCount != 0) emit(kBeforeFinals + index % kFinalCount);
    return;
  }
  const std::u32string_view parts = decomposition(c, kind);
  for (const char32_t part : parts) emit(part);
  if (parts.empty()) emit(c);
}

std::vector<Part> parts_of(const Characters& characters, Decomposing kind) {
  std::vector<Part> parts;
  parts.reserve(characters.size() + characters.size() / 2);
  for (const Character& character : characters) {
    int inserted = 0;
    for_each_part(character.value, kind, [&](char32_t c) {
      parts.push_back({{c, inserted}, combining_class(c)});
      inserted = 1;
    });
  }
  return parts;
}

// Canonical order: each run of parts with a combining class is sorted by class, equal ones staying in order.
void reorder(std::vector<Part>& parts) {
  const auto combines = [](const Part& part) { return part.combining_class != 0; };
  for (auto run = parts.begin(); run != parts.end();) {
    run = std::find_if(run, parts.end(), combines);
    const auto end = std::find_if_not(run, parts.end(), combines);
    std::stable_sort(run, end, [](const Part& a, const Part& b) { return a.combining_class < b.combining_class; });
    run = end;
  }
}

std::optional<char32_t> composed(char32_t first, char32_t second) {
  if (kLeads <= first && first < kLeads + kLeadCount && kVowels <= second && second < kVowels + kVowelCount)
    return kSyllables + ((first - kLeads) * kVowelCount + (second - kVowels)) * kFinalCount;
  if (is_syllable(first) && (first - kSyllables) % kFinalCount == 0 && kBeforeFinals < second &&
      second < kBeforeFinals + kFinalCount)
    return first + (second - kBeforeFinals);
  return composition(first, second);
}

// Composes each starter with the marks behind it that nothing blocks.
std::vector<Change> composed(const std::vector<Part>& parts) {
  std::vector<Change> result;
  result.reserve(parts.size());
  std::optional<std::size_t> starter;  // its place in the result
  int last_class = -1;                 // of the marks between the starter and here; -1: none
  for (const auto& [change, order] : parts) {
    if (starter && last_class < order) {
      if (const auto whole = composed(result[*starter].value, change.value)) {
        result[*starter] = {*whole, result[*starter].change + change.change - 1};
        continue;
      }
    }
    if (order == 0) {
      starter = result.size();
      last_class = -1;
    } else if (starter) {
      last_class = order;
    }
    result.push_back(change);
  }
  return result;
}

std::vector<Part> ordered_parts(const Characters& characters, Decomposing kind) {
  std::vector<Part> parts = parts_of(characters, kind);
  reorder(parts);
  return parts;
}

bool has_any(std::string_view text, std::uint32_t traits) {
  const std::uint32_t* of = character_traits();
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80)
      ++at;
    else if (of[read_code_point(text, at)] & traits)
      return true;
  }
  return false;
}

std::uint32_t traits_of(Decomposing kind) { return kind == Decomposing::compatible ? kHasCompatible : Trait{}; }

}  // namespace

void decompose(Characters& characters, Decomposing kind) {
  std::vector<Change> changes;
  for (const Part& part : ordered_parts(characters, kind)) changes.push_back(part.change);
  transform(characters, changes);
}

void compose(Characters& characters, Decomposing kind) {
  transform(characters, composed(ordered_parts(characters, kind)));
}

bool decomposing_changes(std::string_view text, Decomposing kind) {
  return has_any(text, kDecomposable | traits_of(kind));
}

bool composing_changes(std::string_view text, Decomposing kind) { return has_any(text, kNotInert | traits_of(kind)); }

}  // namespace hearth::tokenizer
