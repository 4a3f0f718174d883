#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/base/arguments.h"
#include "hearth/tasks/common/token_rows.h"
#include "hearth/train/training_arguments.h"

namespace hearth::tasks {

// The part of DataTrainingArguments that all run_*.py scripts share.
struct DataArguments {
  std::vector<std::string> train_file, validation_file, test_file;  // paths and patterns, see data::files_of
  std::optional<bool> pad_to_max_length;                            // not given: packed batches
  std::optional<std::int64_t> max_train_samples, max_eval_samples, max_predict_samples;
  std::optional<std::string> dataset_name, dataset_config_name;  // in place of files, see dataset_request.h
  std::string train_split = "train", validation_split = "validation", test_split = "test";  // of that data set
};

// Declares the files. `items` is what the files hold ("questions"), `endings` which names they may have.
void declare_files(Arguments& options, DataArguments& arguments, std::string_view items, std::string_view endings);
// Declares the other members. `rest` is added to the help of max_*_samples.
void declare_samples(Arguments& options, DataArguments& arguments, std::string_view items, std::string_view rest = "");

// Checks that there is something to do, and that each step of the run has its files.
void check_files(const DataArguments& arguments, const TrainingArguments& training);
// Checks that the files of these steps can be read.
void check_readable(const DataArguments& arguments, const TrainingArguments& training);
// How the model card calls the files: the first as it was given, or nothing.
std::string card_name(const std::vector<std::string>& names);
// Checks that the files' names end as those of records do (data/record_format.h).
void check_endings(const DataArguments& arguments);

// --metric_for_best_model must be one of these, with or without "eval_", or a measure of time. A wrong name is found
// before training, not at the first evaluation.
void check_best_metric(const TrainingArguments& training, std::vector<std::string> known);

// As the run_*.py scripts: clamps max_seq_length to the tokenizer's model_max_length with a warning; exceeding the
// model's positions is an error.
std::int64_t usable_length(std::int64_t wanted, const tokenizer::Tokenizer& tokenizer, std::int64_t model_positions,
                           bool warns);

// How batches are padded: packed unless --pad_to_max_length was given; to multiples of 8 with fp16, as the scripts do.
CollateOptions collate_options(const DataArguments& arguments, const TrainingArguments& training,
                               const tokenizer::Tokenizer& tokenizer, std::int64_t max_seq_length);
// Logs how the training data is padded.
void log_padding(const TokenRows& rows, const CollateOptions& options);

}  // namespace hearth::tasks
