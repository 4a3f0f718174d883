#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hearth/tokenizer/bert_normalizer.h"
#include "hearth/tokenizer/vocabulary_file.h"

namespace hearth::tokenizer {

struct WordPieceTraining {
  std::int64_t vocab_size = 30000;     // the special tokens and the alphabet are in, however few this allows
  std::int64_t min_frequency = 2;      // how often two pieces must stand together to become one
  std::int64_t limit_alphabet = 1000;  // characters kept, the most frequent ones
  std::vector<std::string> special_tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  NormalizerOptions normalizer = {};
  std::function<void(std::int64_t tokens, std::int64_t of)> progress = {};
};

// Makes a WordPiece vocabulary as Hugging Face's trainer does: words start as single characters, and the two
// neighbouring pieces seen most often together become a new one until there are enough. The result depends on which
// words the texts hold and how often, on nothing else.
class WordPieceTrainer {
 public:
  explicit WordPieceTrainer(WordPieceTraining options);

  void add_text(std::string_view text);
  void add_file(const std::filesystem::path& file);
  Vocabulary train() const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const { return std::hash<std::string_view>{}(word); }
  };

  WordPieceTraining options_;
  BertNormalizer normalizer_;
  std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>> word_counts_;
};

}  // namespace hearth::tokenizer
