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
  std::int64_t vocab_size = 30000;     // special tokens and alphabet are always in, even if they are more
  std::int64_t min_frequency = 2;      // two pieces are merged only if they stand together that often
  std::int64_t limit_alphabet = 1000;  // the most frequent characters are kept
  std::vector<std::string> special_tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  NormalizerOptions normalizer = {};
  std::function<void(std::int64_t tokens, std::int64_t of)> progress = {};
};

// Trains a WordPiece vocabulary as Hugging Face's trainer does: words start as single characters, and the two
// neighbouring pieces that stand together most often are merged into a new piece, until there are enough. The result
// depends only on the words of the texts and on how often each occurs.
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
