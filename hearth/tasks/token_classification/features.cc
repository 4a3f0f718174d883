#include "hearth/tasks/token_classification/features.h"

#include <algorithm>

#include "hearth/base/check.h"

namespace hearth::tasks {
namespace {

using tokenizer::Encoding, tokenizer::TokenizedText, tokenizer::Tokenizer;

// The tokens of all words in one row, each with the index of its word.
struct WordTokens {
  TokenizedText tokens;
  std::vector<std::size_t> words;
  std::int64_t empty_words = 0;
};

WordTokens tokenize(std::span<const std::string> words, const Tokenizer& tokenizer) {
  WordTokens result;
  for (std::size_t word = 0; word < words.size(); ++word) {
    const TokenizedText pieces = tokenizer.pieces(words[word]);
    result.tokens.ids.insert(result.tokens.ids.end(), pieces.ids.begin(), pieces.ids.end());
    result.tokens.offsets.insert(result.tokens.offsets.end(), pieces.offsets.begin(), pieces.offsets.end());
    result.words.resize(result.tokens.ids.size(), word);
    result.empty_words += pieces.ids.empty() ? 1 : 0;
  }
  return result;
}

std::int64_t distinct(std::span<const std::size_t> words) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < words.size(); ++i) count += i == 0 || words[i] != words[i - 1] ? 1 : 0;
  return count;
}

// The labels of the first `kept` tokens, without special tokens.
std::vector<std::int32_t> token_labels(std::span<const std::size_t> kept, std::span<const std::int64_t> labels,
                                       const std::vector<std::int64_t>& inside) {
  std::vector<std::int32_t> result;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const std::int64_t label = labels[kept[i]];
    const bool is_first = i == 0 || kept[i] != kept[i - 1];
    const std::int64_t later = inside.empty() ? kNoLabel : inside[static_cast<std::size_t>(label)];
    result.push_back(static_cast<std::int32_t>(is_first ? label : later));
  }
  return result;
}

std::vector<std::int32_t> with_special_tokens(const Encoding& encoding, const std::vector<std::int32_t>& labels) {
  std::vector<std::int32_t> result;
  auto next = labels.begin();
  for (const std::int8_t sequence : encoding.sequence) result.push_back(sequence < 0 ? kNoLabel : *next++);
  return result;
}

}  // namespace

AlignedTokens align(std::span<const std::string> words, std::span<const std::int64_t> labels,
                    const Tokenizer& tokenizer, const AlignOptions& options) {
  check(words.size() == labels.size(), "[align] {} words and {} labels", words.size(), labels.size());
  const WordTokens all = tokenize(words, tokenizer);
  const std::int64_t room = options.max_seq_length - tokenizer.special_tokens(false);
  const auto size = static_cast<std::int64_t>(all.words.size()), kept = std::clamp<std::int64_t>(room, 0, size);
  const auto kept_words = std::span(all.words).first(static_cast<std::size_t>(kept));
  AlignedTokens result;
  result.encoding = tokenizer.build(tokenizer::slice(all.tokens, 0, kept));
  result.labels = with_special_tokens(result.encoding, token_labels(kept_words, labels, options.inside));
  result.cut_words = distinct(all.words) - distinct(kept_words);
  result.empty_words = all.empty_words;
  return result;
}

void append(TokenFeatures& features, const AlignedTokens& sentence) {
  features.append(sentence.encoding);
  features.labels.append(sentence.labels);
}

void LostWords::add(const AlignedTokens& sentence) {
  cut_words += sentence.cut_words;
  cut_rows += sentence.cut_words > 0 ? 1 : 0;
  empty_words += sentence.empty_words;
}

}  // namespace hearth::tasks
