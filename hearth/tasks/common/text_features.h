#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "hearth/tasks/common/token_rows.h"
#include "hearth/tokenizer/tokenizer.h"

namespace hearth::tasks {

bool is_blank(std::string_view text);  // no text, or spaces and line ends alone

// Texts, or pairs of texts where `second` is not empty.
struct TextSpans {
  std::span<const std::string> first, second;

  bool has_pairs() const { return !second.empty(); }
};

// The tokens of the texts, each cut to max_length tokens (Tokenizer::encode_truncated). All threads tokenize.
// `progress` is called from any thread, one call at a time, with the number of finished texts.
TokenRows tokenize_texts(const TextSpans& texts, const tokenizer::Tokenizer& tokenizer, std::int64_t max_length,
                         const std::function<void(std::int64_t done)>& progress = {});

}  // namespace hearth::tasks
