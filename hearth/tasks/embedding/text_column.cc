#include "hearth/tasks/embedding/text_column.h"

#include <algorithm>

#include "hearth/tasks/common/text_features.h"

namespace hearth::tasks {
namespace {

// As sentence-transformers counts them: with the special tokens before the prompt, but not with those behind it.
std::int64_t tokens_of_prompt(const std::string& prompt, const tokenizer::Tokenizer& tokenizer) {
  if (prompt.empty()) return 0;
  const tokenizer::Encoding encoding = tokenizer.encode(prompt);
  return std::ssize(encoding.ids) - (encoding.sequence.back() == -1 ? 1 : 0);
}

}  // namespace

std::int64_t embedding_length(std::optional<std::int64_t> wanted, const models::SentenceTransformer& settings,
                              const tokenizer::Tokenizer& tokenizer, std::int64_t model_positions) {
  const std::int64_t usual = std::min(tokenizer.model_max_length(), model_positions);
  return std::min(wanted.value_or(settings.max_seq_length.value_or(usual)), model_positions);
}

TextColumn text_column(std::span<const std::string> texts, const std::string& prompt,
                       const models::SentenceTransformer& settings, const tokenizer::Tokenizer& tokenizer,
                       std::int64_t max_length, const std::function<void(std::int64_t done)>& progress) {
  TextColumn column;
  if (!settings.include_prompt) column.prompt_tokens = tokens_of_prompt(prompt, tokenizer);
  if (prompt.empty()) {
    column.rows = tokenize_texts({texts, {}}, tokenizer, max_length, progress);
    return column;
  }
  std::vector<std::string> prompted;
  for (const std::string& text : texts) prompted.push_back(prompt + text);
  column.rows = tokenize_texts({prompted, {}}, tokenizer, max_length, progress);
  return column;
}

}  // namespace hearth::tasks
