#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "hearth/tasks/common/token_rows.h"
#include "hearth/tokenizer/tokenizer.h"

namespace hearth::tasks {

inline constexpr std::int32_t kNoLabel = -100;  // the label that transformers leaves out of loss and metrics

// The tokens of all sentences of a file. A sentence is a row of tokens.
struct TokenFeatures : TokenRows {
  data::Array<std::int32_t> labels;  // (tokens): the label of the token's word, or kNoLabel
  bool is_labelled = true;           // false: the file has no tags; labels are 0 where a word begins

  auto arrays() { return std::tie(starts, ids, type_ids, labels); }
  auto arrays() const { return std::tie(starts, ids, type_ids, labels); }
  std::span<const std::int32_t> labels_of(std::int64_t row) const { return of_row(labels, row); }
};

struct AlignOptions {
  std::int64_t max_seq_length = 512;
  std::vector<std::int64_t> inside = {};  // label of the later tokens of a word, by the word's label; empty: kNoLabel
};

// A sentence as tokens, with a label per token.
struct AlignedTokens {
  tokenizer::Encoding encoding;
  std::vector<std::int32_t> labels;
  std::int64_t cut_words = 0, empty_words = 0;
};

// Tokenizes words one by one, as is_split_into_words of transformers. The first token of a word has the word's label.
AlignedTokens align(std::span<const std::string> words, std::span<const std::int64_t> labels,
                    const tokenizer::Tokenizer& tokenizer, const AlignOptions& options);

void append(TokenFeatures& features, const AlignedTokens& sentence);

// Words that are neither learned nor predicted.
struct LostWords {
  std::int64_t cut_words = 0, cut_rows = 0;  // words beyond max_seq_length, and the sentences that have some
  std::int64_t empty_words = 0;              // words without tokens

  void add(const AlignedTokens& sentence);
};

}  // namespace hearth::tasks
