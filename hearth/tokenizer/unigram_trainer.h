#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "hearth/tokenizer/unigram.h"
#include "hearth/tokenizer/unigram_seeds.h"
#include "hearth/tokenizer/word_counter.h"

namespace hearth::tokenizer {

struct UnigramTraining {
  std::int64_t vocab_size = 8000;
  std::vector<std::string> special_tokens = {};
  UnigramSeeds seeds = {};
  double shrinking_factor = 0.75;                  // of the pieces that each round of pruning keeps
  int iterations = 2;                              // of expectation and maximisation before each pruning
  std::function<void(double done)> progress = {};  // from 0 to 1
};

// Trains a Unigram vocabulary as UnigramTrainer of Hugging Face's library does: from many pieces, expectation
// maximisation finds their probabilities; those without which the words lose least likelihood are removed, until
// vocab_size is near. Every character of the words is in. The first tokens are the special ones, with score 0; the
// others follow by falling score. Differences from the library are those of rounding: it adds up in random order.
std::vector<ScoredToken> train_unigram(std::span<const CountedWord> words, const UnigramTraining& options);

}  // namespace hearth::tokenizer
