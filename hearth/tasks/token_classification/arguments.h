#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hearth/base/arguments.h"
#include "hearth/tasks/common/data_arguments.h"
#include "hearth/tasks/token_classification/token_table.h"
#include "hearth/train/training_arguments.h"

namespace hearth::tasks {

// DataTrainingArguments of run_ner.py.
struct TokenArguments : DataArguments {
  std::string task_name = "ner";
  std::optional<std::string> text_column_name, label_column_name;
  std::optional<std::int64_t> max_seq_length;  // not given: as long as tokenizer and model allow
  bool label_all_tokens = false;
  bool return_entity_level_metrics = false;

  void validate(const TrainingArguments& training) const;  // throws Error
  TokenColumns columns() const;
};

void declare(Arguments& options, TokenArguments& arguments);

}  // namespace hearth::tasks
