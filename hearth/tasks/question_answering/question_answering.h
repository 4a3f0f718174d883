#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hearth/tasks/common/token_rows.h"
#include "hearth/tasks/question_answering/arguments.h"
#include "hearth/tasks/question_answering/examples.h"
#include "hearth/tasks/question_answering/features.h"
#include "hearth/tasks/question_answering/preprocess.h"
#include "hearth/tasks/task.h"

namespace hearth::tasks {

// Extractive question answering: files -> features -> batches, and logits -> answers and metrics.
class QuestionAnswering final : public Task {
 public:
  void declare(Arguments& options) override { tasks::declare(options, args_); }
  void validate(const TrainingArguments& training) override { args_.validate(training); }
  DataArguments& data() override { return args_; }
  void load(const TaskSetting& setting) override;
  models::HeadSpec head() const override { return models::HeadKind::question_answering; }
  DatasetPtr train_data() const override { return train_data_; }
  std::int64_t evaluation_size(std::size_t) const override { return evaluation_.features->size(); }
  Metrics evaluate(Trainer& trainer, std::size_t set) override;
  Metrics predict(Trainer& trainer) override;
  std::vector<SamplePrediction> samples() const override { return samples_; }
  TaskCard card() const override;
  std::string try_it(const std::string& model) const override;

  const QaArguments& arguments() const { return args_; }

 private:
  // The questions of a file, with their features.
  struct Questions {
    std::vector<QaExample> examples;
    std::shared_ptr<const QaFeatures> features;
    bool scored = true;  // false: the file holds no answers to compare with
  };

  void load_train_data(const TaskSetting& setting);
  Questions load_questions(const TaskSetting& setting, const data::Files& files,
                           std::optional<std::int64_t> max_samples, QaAnswers answers) const;
  QaFeatures train_features(const TaskSetting& setting, const data::Files& files) const;
  // Features from the cache, or those that `make` makes, which are then stored.
  QaFeatures features(const TaskSetting& setting, const data::Files& files, const QaFeatureLimits& limits,
                      std::int64_t max_samples, const std::function<QaFeatures()>& make) const;
  // Answers the questions, writes FILE_PREFIX_predictions.json, ..._nbest_predictions.json and ..._null_odds.json, and
  // returns metrics named METRIC_PREFIX_...
  Metrics answer(Trainer& trainer, const Questions& questions, const std::string& file_prefix,
                 const std::string& metric_prefix);

  QaArguments args_;
  QaFeatureOptions feature_options_;
  CollateOptions collate_options_;
  DatasetPtr train_data_;
  Questions evaluation_, prediction_;
  std::vector<SamplePrediction> samples_;
};

}  // namespace hearth::tasks
