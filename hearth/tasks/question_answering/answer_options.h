#pragma once

#include <cstdint>

#include "hearth/base/arguments.h"

namespace hearth::tasks {

// Largest length, in tokens, and largest number of answers that options and training_args.json may name.
constexpr std::int64_t kLargestCount = 1 << 30;

// Where the options that run_qa and ask have in common are stored: plain values in run_qa, optionals in ask, which
// otherwise takes the values that the model was trained with.
struct AnswerOptionTargets {
  ArgumentTarget max_seq_length, doc_stride, max_answer_length, n_best_size, version_2_with_negative,
      null_score_diff_threshold;
};

void declare(Arguments& options, const AnswerOptionTargets& targets);

}  // namespace hearth::tasks
