#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hearth/tokenizer/bpe.h"
#include "hearth/tokenizer/vocabulary_file.h"
#include "hearth/tokenizer/word_counter.h"

namespace hearth::tokenizer {

struct BpeTraining {
  std::int64_t vocab_size = 30000;                  // special tokens and alphabet are always in, even if they are more
  std::int64_t min_frequency = 2;                   // two tokens are merged only if they stand together that often
  std::optional<std::int64_t> limit_alphabet = {};  // the most frequent characters are kept
  std::u32string initial_alphabet = {};             // characters that are in, whether texts have them or not
  std::string continuing_subword_prefix = {};       // of tokens that go on with a word
  std::vector<std::string> special_tokens = {};
  std::function<void(double done)> progress = {};  // from 0 to 1
};

struct TrainedBpe {
  Vocabulary vocabulary;
  Bpe::Merges merges;
};

// Trains byte-pair encoding as BpeTrainer of Hugging Face's library does: words start as single characters, and the two
// neighbouring tokens that stand together most often are merged into a new token, until there are enough. Vocabulary
// and merges equal the library's. With a prefix, as WordPiece has it, the library numbers the tokens of one character
// at random; here they are numbered in the order of their code points.
TrainedBpe train_bpe(std::span<const CountedWord> words, const BpeTraining& options);

}  // namespace hearth::tokenizer
