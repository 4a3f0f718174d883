// The normalizer of BERT's tokenizer: cleans the text, sets Chinese characters apart, strips accents, lowercases. It
// gives the same characters and offsets as BertNormalizer of Hugging Face's tokenizers library.
//
// Terms:
//   character        a code point of the normalized text, with its origin.
//   origin           the index of the code point of the original text that the character comes from. Answers are cut
//                    out of the original text by origins, so they must be those of the library, too.
//   trait            a bit per code point (unicode.h): control, space, ideograph, mark, decomposable, upper case.
//   decomposition    the canonical one (NFD): a code point becomes a base character and its marks; e with acute becomes
//                    e and U+0301.
//   combining class  a number per mark. Unicode's canonical order sorts neighbouring marks by it, except class 0.
//
// normalize() runs three passes:
//   read           decodes UTF-8; with clean_text it drops control characters and turns every space into ' '; with
//                  handle_chinese_chars it puts spaces around ideographs.
//   strip_accents  decomposes, brings marks into canonical order and drops those of category Mn. It runs if
//                  options.strip_accents says so or, if that is unset, whenever the text is lowercased.
//   make_lowercase maps one character to one, except capital I with a dot above, which becomes two.
// Most text has neither marks nor decomposable characters: strip_accents then returns without a copy.

#include "hearth/tokenizer/bert_normalizer.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "hearth/tokenizer/unicode.h"

namespace hearth::tokenizer {
namespace {

constexpr char32_t kCapitalIWithDot = 0x130, kDotAbove = 0x307;

// A code point of the decomposed text.
struct Part {
  char32_t value;
  int combining_class;
  bool inserted;  // it is the second or a later code point of a decomposition
};

std::vector<Part> decomposed(const std::vector<Character>& characters, const std::uint8_t* traits) {
  std::vector<Part> parts;
  parts.reserve(characters.size() + characters.size() / 2);
  for (const Character& character : characters) {
    if (!(traits[character.value] & kDecomposable)) {
      parts.push_back({character.value, 0, false});
      continue;
    }
    const Decomposition decomposition = decompose(character.value);
    for (std::size_t i = 0; i < decomposition.size; ++i) {
      const char32_t c = decomposition.characters[i];
      parts.push_back({c, combining_class(c), i > 0});
    }
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

}  // namespace

BertNormalizer::BertNormalizer(NormalizerOptions options) : options_(options), traits_(character_traits()) {}

std::vector<Character> BertNormalizer::normalize(std::string_view text, std::int32_t first) const {
  std::vector<Character> characters = read(text, first);
  if (options_.strip_accents.value_or(options_.lowercase)) strip_accents(characters);
  if (options_.lowercase) make_lowercase(characters);
  return characters;
}

std::vector<Character> BertNormalizer::read(std::string_view text, std::int32_t first) const {
  std::vector<Character> characters;
  characters.reserve(text.size());
  std::int32_t origin = first;
  for (std::size_t at = 0; at < text.size(); ++origin) {
    const char32_t c = read_code_point(text, at);
    const std::uint8_t traits = traits_[c];
    if (options_.clean_text && (traits & kControl)) continue;
    if (options_.clean_text && (traits & kSpace)) {
      characters.push_back({U' ', origin});
    } else if (options_.handle_chinese_chars && (traits & kIdeograph)) {
      characters.insert(characters.end(), {{U' ', origin}, {c, origin}, {U' ', origin}});
    } else {
      characters.push_back({c, origin});
    }
  }
  return characters;
}

// Origins are assigned in order: each part that was not inserted takes the origin of the next character, even where
// reordering has moved marks. The library does the same, and origins therefore never decrease.
void BertNormalizer::strip_accents(std::vector<Character>& characters) const {
  const auto affected = [&](const Character& c) { return (traits_[c.value] & (kDecomposable | kMark)) != 0; };
  if (std::ranges::none_of(characters, affected)) return;
  std::vector<Part> parts = decomposed(characters, traits_);
  reorder(parts);
  std::vector<Character> kept;
  kept.reserve(parts.size());
  std::size_t next = 0;
  for (const Part& part : parts) {
    if (!part.inserted) ++next;  // a part is never inserted first, so next >= 1 below
    if (!(traits_[part.value] & kMark)) kept.push_back({part.value, characters[next - 1].origin});
  }
  characters = std::move(kept);
}

void BertNormalizer::make_lowercase(std::vector<Character>& characters) const {
  std::vector<Character> lowered;
  lowered.reserve(characters.size());
  for (const auto [c, origin] : characters) {
    if (c == kCapitalIWithDot) {
      lowered.insert(lowered.end(), {{U'i', origin}, {kDotAbove, origin}});
    } else {
      lowered.push_back({traits_[c] & kUppercase ? lowercase(c) : c, origin});
    }
  }
  characters = std::move(lowered);
}

}  // namespace hearth::tokenizer
