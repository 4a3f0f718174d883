#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hearth/base/arguments.h"
#include "hearth/train/training_arguments.h"

namespace hearth::tasks {

struct ModelArguments {
  std::string model_name_or_path;  // a folder, or a name in the local Hub cache
  std::optional<std::string> config_name, tokenizer_name;
  std::optional<std::string> cache_dir;
  std::string model_revision = "main";
  std::optional<std::string> config_overrides;  // "hidden_dropout_prob=0,..."
};

// DataTrainingArguments of run_qa.py.
struct QaArguments {
  std::optional<std::string> train_file, validation_file, test_file;  // data/record_format.h
  bool overwrite_cache = false;
  std::int64_t max_seq_length = 384;
  std::int64_t doc_stride = 128;          // overlap between neighbouring windows, in tokens
  std::optional<bool> pad_to_max_length;  // nullopt: packed without padding; false: to the longest of the batch
  std::optional<std::int64_t> max_train_samples, max_eval_samples, max_predict_samples;
  bool version_2_with_negative = false;
  double null_score_diff_threshold = 0.0;
  std::int64_t n_best_size = 20;
  std::int64_t max_answer_length = 30;

  // `training` has been validated.
  void validate(const TrainingArguments& training) const;
};

void declare(Arguments& options, ModelArguments& arguments);
void declare(Arguments& options, QaArguments& arguments);

struct RunQaArguments {
  ModelArguments model;
  QaArguments data;
  TrainingArguments training;
  std::vector<Arguments::Resolved> resolved;  // all of the above, for the table at start
  std::vector<std::string> notices;           // Arguments::notices()
  std::optional<std::string> help;            // given: print it, nothing else has been checked
};
void declare(Arguments& options, RunQaArguments& arguments);

// `words` follow `hearth run_qa`: flags, before them perhaps a file of options. Throws UsageError.
RunQaArguments parse_qa_arguments(std::span<const std::string> words);

}  // namespace hearth::tasks
