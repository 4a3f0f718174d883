#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/io/json.h"
#include "hearth/tokenizer/tokenizer.h"
#include "hearth/tokenizer/tokenizer_class.h"
#include "hearth/tokenizer/word_counter.h"

namespace hearth::tokenizer {

enum class TokenizerType { wordpiece, bpe, unigram };
constexpr std::array<std::string_view, 3> names_of(TokenizerType) { return {"wordpiece", "bpe", "unigram"}; }

struct TokenizerTraining {
  TokenizerType type = TokenizerType::wordpiece;
  std::string tokenizer_class = {};                 // of transformers; empty: the first of trainable_classes(type)
  std::optional<std::int64_t> vocab_size = {};      // 30000; Unigram: 8000
  std::optional<std::int64_t> min_frequency = {};   // 2; not of Unigram
  std::optional<std::int64_t> limit_alphabet = {};  // WordPiece: 1000; not of Unigram
  std::optional<bool> lowercase = {};               // true for WordPiece alone
  bool add_prefix_space = false;                    // byte-level BPE: before the first word of a text
  std::vector<std::string> special_tokens = {};     // further ones; those of the class come before them
  std::optional<std::int64_t> model_max_length = {};
  std::function<void(double done)> progress = {};  // from 0 to 1
};

// The tokenizer classes whose vocabularies are of this type; the first one is the default.
std::vector<std::string> trainable_classes(TokenizerType type);

// Trains the tokenizer of a class of transformers on texts: BERT's nodes with WordPiece, byte-level BPE as GPT-2 and
// RoBERTa have it, or Unigram with SentencePiece's spaces. The result depends on the texts alone, not on their order or
// the number of threads.
class TokenizerTrainer {
 public:
  explicit TokenizerTrainer(TokenizerTraining options);

  WordCounter& texts() { return words_; }
  std::shared_ptr<const Tokenizer> train() const;

 private:
  std::vector<std::string> special_tokens() const;

  TokenizerTraining options_;
  TokenizerClass class_;
  io::Json nodes_;  // normalizer and pre-tokenizer
  WordCounter words_;
};

}  // namespace hearth::tokenizer
