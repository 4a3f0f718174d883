#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/tokenizer/bert_normalizer.h"
#include "hearth/tokenizer/tokenizer.h"

namespace hearth::tokenizer {

// A word of the normalised text. Valid until the reader's next call.
struct Word {
  std::string_view text;
  std::int32_t characters = 0;
  std::int32_t begin = 0;                 // position of the first byte's code point in the original text
  const std::int32_t* origins = nullptr;  // the same for every byte; null: one code point per byte, from `begin` on

  Offset place(std::size_t first, std::size_t end) const {
    if (origins) return {origins[first], origins[end - 1] + 1};
    return {begin + static_cast<std::int32_t>(first), begin + static_cast<std::int32_t>(end)};
  }
};

// Splits normalised text into words, at spaces; a punctuation character is a word of its own.
class NormalizedWords {
 public:
  NormalizedWords();

  void read(Characters characters);
  bool next(Word& word);

 private:
  Characters characters_;
  std::size_t at_ = 0;
  std::string text_;
  std::vector<std::int32_t> origins_;
  const std::uint32_t* traits_;
};

// Normalises a text and splits it into words. Words of plain ASCII, which most are, take a fast path without decoding.
class WordReader {
 public:
  // `first`: the position of the text's first code point.
  WordReader(const BertNormalizer& normalizer, std::string_view text, std::int32_t first);

  bool next(Word& word);
  std::int32_t place() const { return place_; }  // position of the first code point not yet read

 private:
  void read_until_space();

  const BertNormalizer& normalizer_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::int32_t place_;  // position of the code point at at_
  bool in_normalized_ = false;
  NormalizedWords normalized_;
  std::string word_;
};

}  // namespace hearth::tokenizer
