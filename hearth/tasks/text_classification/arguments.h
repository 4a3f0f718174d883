#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hearth/base/arguments.h"
#include "hearth/tasks/common/data_arguments.h"
#include "hearth/train/training_arguments.h"

namespace hearth::tasks {

// What run_glue and run_classification have in common.
struct TextArguments : DataArguments {
  std::int64_t max_seq_length = 128;
  std::string class_weights = "none";
  double focal_gamma = 0;

  bool weighs_classes() const { return class_weights != "none" || focal_gamma > 0; }
};

void declare_text(Arguments& options, TextArguments& arguments);
void declare_weights(Arguments& options, TextArguments& arguments);                     // in a section of their own
void validate_text(const TextArguments& arguments, const TrainingArguments& training);  // throws Error

// Class weights and focal loss are for labels, not for numbers.
void check_not_weighted(const TextArguments& arguments);

// DataTrainingArguments of run_glue.py.
struct GlueArguments : TextArguments {
  std::optional<std::string> task_name;
  std::vector<std::string> validation_mismatched_file, test_mismatched_file;

  bool is_mnli() const;
  void validate(const TrainingArguments& training);  // throws Error
};
void declare(Arguments& options, GlueArguments& arguments);

// DataTrainingArguments of run_classification.py.
struct ClassificationArguments : TextArguments {
  std::optional<bool> do_regression;
  std::optional<std::string> text_column_names, text_pair_column_names, label_column_name, remove_columns, metric_name;
  std::string text_column_delimiter = " ";
  bool shuffle_train_dataset = false;
  bool cross_encoder = false;
  std::int64_t shuffle_seed = 42;

  std::string label_column() const { return label_column_name.value_or("label"); }
  void validate(const TrainingArguments& training);  // throws Error
};
void declare(Arguments& options, ClassificationArguments& arguments);

}  // namespace hearth::tasks
