#pragma once

#include <cstdint>

#include "hearth/base/arguments.h"
#include "hearth/tasks/common/data_arguments.h"
#include "hearth/train/training_arguments.h"

namespace hearth::tasks {

// DataTrainingArguments of run_qa.py.
struct QaArguments : DataArguments {
  std::int64_t max_seq_length = 384, doc_stride = 128;
  std::int64_t max_answer_length = 30, n_best_size = 20;
  bool version_2_with_negative = false;
  double null_score_diff_threshold = 0;
  bool overwrite_cache = false;

  void validate(const TrainingArguments& training) const;  // throws Error
};

void declare(Arguments& options, QaArguments& arguments);

}  // namespace hearth::tasks
