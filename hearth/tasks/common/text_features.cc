#include "hearth/tasks/common/text_features.h"

#include <mutex>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/cpu/parallel.h"

namespace hearth::tasks {
namespace {

constexpr std::int64_t kTextsPerTask = 256;

void check_room(const TextSpans& texts, const tokenizer::Tokenizer& tokenizer, std::int64_t max_length) {
  const std::int64_t special = tokenizer.special_tokens(texts.has_pairs());
  check(max_length > special, "--max_seq_length {} is too small: {} special tokens leave no room for text; give more",
        max_length, special);
}

}  // namespace

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\n\v\f\r") == text.npos; }

TokenRows tokenize_texts(const TextSpans& texts, const tokenizer::Tokenizer& tokenizer, std::int64_t max_length,
                         const std::function<void(std::int64_t done)>& progress) {
  check_room(texts, tokenizer, max_length);
  const auto count = static_cast<std::int64_t>(texts.first.size());
  std::vector<TokenRows> parts(static_cast<std::size_t>((count + kTextsPerTask - 1) / kTextsPerTask));
  std::mutex mutex;
  std::int64_t done = 0;
  cpu::parallel_chunks(count, kTextsPerTask, [&](std::int64_t begin, std::int64_t end) {
    TokenRows& part = parts[static_cast<std::size_t>(begin / kTextsPerTask)];
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      part.append(texts.has_pairs() ? tokenizer.encode_truncated(texts.first[i], texts.second[i], max_length)
                                    : tokenizer.encode_truncated(texts.first[i], max_length));
    const std::lock_guard lock(mutex);
    done += end - begin;
    if (progress) progress(done);
  });
  TokenRows all;
  for (const TokenRows& part : parts) all.append(part);
  return all;
}

}  // namespace hearth::tasks
