#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hearth/tokenizer/unigram.h"
#include "hearth/tokenizer/word_counter.h"

namespace hearth::tokenizer {

struct UnigramSeeds {
  std::int64_t longest = 16;      // characters of a piece
  std::int64_t most = 1'000'000;  // pieces; characters are always in
};

// The pieces that the training of a Unigram model starts from: every character, and the substrings of the words that at
// least two different characters (or the end of a word) follow somewhere. The score of a substring is its length times
// the number of its places in the words, each word taken once; that of a character is its count in the texts. Scores
// are then turned into logarithms of probabilities. Characters come first, then substrings, by falling score.
std::vector<ScoredToken> unigram_seeds(std::span<const CountedWord> words, const UnigramSeeds& options);

}  // namespace hearth::tokenizer
