#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/base/dtype.h"
#include "hearth/models/pretrained.h"
#include "hearth/tasks/token_classification/aggregation.h"
#include "hearth/tokenizer/tokenizer.h"

namespace hearth::tasks {

struct TaggerOptions {
  std::int64_t max_seq_length = 512;  // of a window, special tokens included
  std::int64_t stride = 128;          // tokens that neighbouring windows of a long text share
  std::int64_t batch_size = 8;        // windows
  Aggregation aggregation = Aggregation::simple;
  DType compute = DType::f32;
};

// A text with its tokens, whose offsets are places in it.
struct TokenizedSentence {
  std::string text;
  tokenizer::TokenizedText tokens;
};
TokenizedSentence tokenized(std::string_view text, const tokenizer::Tokenizer& tokenizer);
// Words that are tokenized one by one; the text has a space between them.
TokenizedSentence tokenized(std::span<const std::string> words, const tokenizer::Tokenizer& tokenizer);

// Finds the entities of texts. Texts of any length are read in overlapping windows; a token's probabilities come from
// the window in which it has most context on its shorter side.
class Tagger {
 public:
  Tagger(nn::Model& model, std::vector<std::string> labels, const tokenizer::Tokenizer& tokenizer,
         const TaggerOptions& options);
  std::vector<std::vector<Entity>> operator()(std::span<const TokenizedSentence> sentences) const;

 private:
  struct Window;

  std::vector<Window> windows_of(const tokenizer::TokenizedText& tokens, std::size_t sentence) const;
  void run(std::span<const Window> windows, std::span<std::vector<ScoredToken>> tokens) const;
  std::vector<ScoredToken> without_scores(const TokenizedSentence& sentence) const;

  nn::Model& model_;
  std::vector<std::string> labels_;
  const tokenizer::Tokenizer& tokenizer_;
  TaggerOptions options_;
};

}  // namespace hearth::tasks
