#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hearth/metrics/entities.h"
#include "hearth/tasks/common/label_map.h"
#include "hearth/tasks/common/token_rows.h"
#include "hearth/tasks/task.h"
#include "hearth/tasks/token_classification/arguments.h"
#include "hearth/tasks/token_classification/features.h"
#include "hearth/tasks/token_classification/token_table.h"

namespace hearth::tasks {

// Token classification, such as named-entity recognition: a label for each word of a sentence.
class TokenClassification final : public Task {
 public:
  void declare(Arguments& options) override { tasks::declare(options, args_); }
  void validate(const TrainingArguments& training) override { args_.validate(training); }
  DataArguments& data() override { return args_; }
  bool takes_words() const override { return true; }
  void load(const TaskSetting& setting) override;
  models::HeadSpec head() const override;
  DatasetPtr train_data() const override { return train_data_; }
  std::int64_t evaluation_size(std::size_t) const override { return evaluation_->rows(); }
  Metrics evaluate(Trainer& trainer, std::size_t set) override;
  Metrics predict(Trainer& trainer) override;
  std::vector<SamplePrediction> samples() const override { return samples_; }
  std::string report(const std::filesystem::path& output_dir) const override;
  TaskCard card() const override;
  std::string try_it(const std::string& model) const override;

  const TokenArguments& arguments() const { return args_; }
  const LabelMap& labels() const { return labels_; }

 private:
  using FeaturesPtr = std::shared_ptr<const TokenFeatures>;
  using Tags = std::vector<std::vector<std::string>>;  // per sentence

  std::int64_t max_length(const TaskSetting& setting) const;
  void load_train_data(const TaskSetting& setting);
  FeaturesPtr load_features(const TaskSetting& setting, const data::Files& files,
                            std::optional<std::int64_t> max_samples, data::Tags tags) const;
  // A batch without labels has no loss: sentences without words are left out of training.
  enum class Unlabelled { kept, left_out };
  FeaturesPtr features(const TaskSetting& setting, TokenSource& source, Unlabelled unlabelled) const;
  std::vector<AlignedTokens> aligned(const TokenTable& table, const tokenizer::Tokenizer& tokenizer,
                                     const AlignOptions& options) const;
  // The tags of all words that the model saw. Where the file has tags, `scores` and the metrics are complete.
  Tags tag(Trainer& trainer, const FeaturesPtr& features, const std::string& prefix, Metrics& metrics,
           metrics::EntityScores& scores) const;

  TokenArguments args_;
  LabelMap labels_;
  bool labels_are_texts_ = false;  // of the training data
  AlignOptions align_options_;
  CollateOptions collate_options_;
  DatasetPtr train_data_;
  FeaturesPtr evaluation_, prediction_;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer_;
  std::vector<SamplePrediction> samples_;
  metrics::EntityScores scores_;  // of the last evaluation, in the first process
};

}  // namespace hearth::tasks
