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
//   clean          with clean_text drops control characters and turns every space into ' '; with handle_chinese_chars
//                  puts spaces around ideographs.
//   strip_accents  decomposes, brings marks into canonical order and drops those of category Mn. It runs if
//                  options.strip_accents says so or, if that is unset, whenever the text is lowercased.
//   make_lowercase maps one character to one, except capital I with a dot above, which becomes two.
// Most text has neither marks nor decomposable characters: strip_accents then returns without a copy.

#include "hearth/tokenizer/bert_normalizer.h"

#include <algorithm>
#include <utility>

#include "hearth/tokenizer/normal_forms.h"
#include "hearth/tokenizer/unicode.h"

namespace hearth::tokenizer {

BertNormalizer::BertNormalizer(NormalizerOptions options) : options_(options), traits_(character_traits()) {}

void BertNormalizer::normalize(Characters& characters) const {
  if (options_.clean_text || options_.handle_chinese_chars) clean(characters);
  if (options_.strip_accents.value_or(options_.lowercase)) strip_accents(characters);
  if (options_.lowercase) make_lowercase(characters);
}

bool BertNormalizer::changes(std::string_view) const { return true; }

void BertNormalizer::clean(Characters& characters) const {
  Characters cleaned;
  cleaned.reserve(characters.size());
  for (const auto [c, origin] : characters) {
    const std::uint32_t traits = traits_[c];
    if (options_.clean_text && (traits & kControl)) continue;
    if (options_.clean_text && (traits & kSpace)) {
      cleaned.push_back({U' ', origin});
    } else if (options_.handle_chinese_chars && (traits & kIdeograph)) {
      cleaned.insert(cleaned.end(), {{U' ', origin}, {c, origin}, {U' ', origin}});
    } else {
      cleaned.push_back({c, origin});
    }
  }
  characters = std::move(cleaned);
}

void BertNormalizer::strip_accents(Characters& characters) const {
  const auto has = [&](std::uint32_t traits) {
    return [this, traits](const Character& c) { return (traits_[c.value] & traits) != 0; };
  };
  if (std::ranges::any_of(characters, has(kDecomposable))) decompose(characters, Decomposing::canonical);
  std::erase_if(characters, has(kMark));
}

void make_lowercase(Characters& characters) {
  const auto is_double = [](const Character& c) { return c.value == kCapitalIWithDot; };
  if (std::ranges::any_of(characters, is_double)) {
    Characters spelled;
    for (const Character& c : characters) {
      spelled.push_back({is_double(c) ? U'i' : c.value, c.origin});
      if (is_double(c)) spelled.push_back({kDotAbove, c.origin});
    }
    characters = std::move(spelled);
  }
  for (Character& c : characters) c.value = lowercase(c.value);
}

}  // namespace hearth::tokenizer
