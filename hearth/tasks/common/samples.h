#pragma once

#include <cstdint>

#include "hearth/tasks/common/token_rows.h"
#include "hearth/tokenizer/tokenizer.h"

namespace hearth::tasks {

inline constexpr std::int64_t kSamples = 6;  // of each kind, wrong and right, that an evaluation shows

// The text of a row as its tokens tell it; a second text is on a line of its own.
std::string text_of_row(const TokenRows& rows, std::int64_t row, const tokenizer::Tokenizer& tokenizer);

}  // namespace hearth::tasks
