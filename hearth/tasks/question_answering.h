#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "hearth/data/qa_dataset.h"
#include "hearth/io/json.h"
#include "hearth/parallel/team.h"
#include "hearth/tasks/qa_arguments.h"
#include "hearth/tasks/qa_collator.h"
#include "hearth/tasks/qa_features.h"
#include "hearth/tasks/qa_postprocess.h"
#include "hearth/tasks/qa_preprocess.h"
#include "hearth/tokenizer/tokenizer.h"
#include "hearth/train/trainer.h"

namespace hearth::tasks {

// The longest sequence, and the largest token id + 1, that a model can read.
struct ModelLimits {
  std::int64_t positions = 0, vocabulary = 0;
};

// The text side of extractive question answering: files -> features -> batches, and logits -> answers and metrics.
class QuestionAnswering {
 public:
  // `tokenizer_folder` is where the tokenizer was loaded from: the key of the feature cache hashes its files.
  QuestionAnswering(const RunQaArguments& args, std::shared_ptr<const tokenizer::Tokenizer> tokenizer,
                    std::filesystem::path tokenizer_folder, ModelLimits model, parallel::Team team = {});

  Dataset train_data();

  // The questions of a file, with their features.
  struct Questions {
    std::vector<data::QaExample> examples;
    QaFeatures features;
    bool scored = true;  // false: the file holds no answers to compare with
  };
  Questions evaluation_questions() const;  // --validation_file
  Questions prediction_questions() const;  // --test_file

  // Answers the questions, writes FILE_PREFIX_predictions.json, ..._nbest_predictions.json and ..._null_odds.json, and
  // returns metrics named METRIC_PREFIX_... In a team all processes answer; the first one writes and returns metrics.
  io::Json answer(Trainer& trainer, const Questions& questions, const std::string& file_prefix,
                  const std::string& metric_prefix) const;

 private:
  QaFeatures features(QaFeatureKind kind, const std::string& file, const std::vector<data::QaExample>& examples,
                      std::int64_t max_samples) const;
  QaFeatures prepared(QaFeatureKind kind, const std::string& file, const std::vector<data::QaExample>& examples,
                      std::int64_t max_samples) const;
  Questions questions(const std::string& file, std::optional<std::int64_t> max_samples, data::QaAnswers answers) const;
  QaCollatorOptions collator_options() const;

  RunQaArguments args_;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer_;
  std::filesystem::path tokenizer_folder_;
  ModelLimits model_;
  parallel::Team team_;
  QaFeatureOptions feature_options_;
  QaFeatures train_features_;
};

}  // namespace hearth::tasks
