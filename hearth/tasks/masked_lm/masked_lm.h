#pragma once

#include <memory>
#include <string>

#include "hearth/tasks/masked_lm/arguments.h"
#include "hearth/tasks/masked_lm/dataset.h"
#include "hearth/tasks/masked_lm/texts.h"
#include "hearth/tasks/task.h"

namespace hearth::tasks {

// Masked language modelling: find tokens of a text that were masked. No labels are needed, so that a model can learn
// the language of a text before it is fine-tuned.
class MaskedLm final : public Task {
 public:
  ModelStart start() const override { return ModelStart::any; }
  void declare(Arguments& options) override { tasks::declare(options, args_); }
  void validate(const TrainingArguments& training) override { args_.validate(training); }
  DataArguments& data() override { return args_; }
  // A data set without the validation split is divided as a training file is.
  std::optional<DatasetRequest> dataset(const TrainingArguments& training) override;
  void take_files(const hub::DatasetFiles& files, const TrainingArguments& training) override;
  void check_inputs(const TrainingArguments& training) override { check_readable(args_.files(), training); }
  void load(const TaskSetting& setting) override;
  models::HeadSpec head() const override { return models::HeadKind::masked_lm; }
  DatasetPtr train_data() const override { return train_data_; }
  std::int64_t evaluation_size(std::size_t) const override { return evaluation_->size(); }
  Metrics evaluate(Trainer& trainer, std::size_t set) override;
  Metrics derived_metrics(const Metrics& evaluated) const override;  // the perplexity
  Metrics predict(Trainer& trainer) override;
  TaskCard card() const override;
  std::string try_it(const std::string& model) const override;

 private:
  using MaskedDatasetPtr = std::shared_ptr<const MaskedDataset>;

  std::int64_t max_length(const TaskSetting& setting) const;
  SplitTexts split(Texts texts, const TrainingArguments& training) const;
  MaskedDatasetPtr prepared(const TaskSetting& setting, const Texts& texts,
                            std::optional<std::int64_t> max_samples) const;

  MaskedLmArguments args_;
  std::shared_ptr<const Masking> masking_;
  CollateOptions collate_options_;
  MaskedDatasetPtr train_data_, evaluation_, prediction_;
};

}  // namespace hearth::tasks
