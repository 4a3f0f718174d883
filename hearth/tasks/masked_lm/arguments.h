#pragma once

#include <cstdint>
#include <optional>

#include "hearth/base/arguments.h"
#include "hearth/tasks/common/data_arguments.h"
#include "hearth/train/training_arguments.h"

namespace hearth::tasks {

// DataTrainingArguments of run_mlm.py, and masking of whole words.
struct MaskedLmArguments : DataArguments {
  std::int64_t validation_split_percentage = 5;
  std::optional<std::int64_t> max_seq_length;  // not given: as long as tokenizer and model allow, at most 1024
  double mlm_probability = 0.15;
  bool line_by_line = false;
  bool whole_word_mask = false;

  void validate(const TrainingArguments& training) const;  // throws Error
  // The files, where the evaluation data may be a part of the training file.
  DataArguments files() const;
};

void declare(Arguments& options, MaskedLmArguments& arguments);

}  // namespace hearth::tasks
