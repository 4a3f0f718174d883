#pragma once

#include <cstdint>

#include "hearth/tasks/common/token_rows.h"
#include "hearth/tasks/masked_lm/texts.h"
#include "hearth/tasks/task.h"

namespace hearth::tasks {

enum class Grouping { lines, joined };

// The sequences of run_mlm.py:
// - lines: one per text that is not blank, cut to max_length tokens;
// - joined: every 1,000 texts, with their special tokens, are joined and cut into sequences of exactly max_length
//   tokens; what is left of each 1,000 is dropped.
TokenRows text_sequences(const Texts& texts, Grouping grouping, std::int64_t max_length, const TaskSetting& setting);

}  // namespace hearth::tasks
