#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hearth/tasks/task.h"
#include "hearth/tasks/text_classification/arguments.h"
#include "hearth/tasks/text_classification/class_report.h"
#include "hearth/tasks/text_classification/dataset.h"
#include "hearth/tasks/text_classification/labels.h"
#include "hearth/tasks/text_classification/scores.h"
#include "hearth/tasks/text_classification/text_source.h"

namespace hearth::tasks {

// Everything that a command of this folder takes from its files.
struct TextData {
  std::optional<TextSource> train;
  std::vector<std::int64_t> train_order;  // the rows to train on; empty: all of them
  std::vector<TextSource> evaluation, prediction;
  TextProblem problem;
  TextMetrics metrics;

  // The first that has labels: training, or else evaluation; null if there is none.
  TextSource* labelled() { return train ? &*train : evaluation.empty() ? nullptr : &evaluation.front(); }
};

// Text classification and regression: rows of texts -> features -> batches, and logits -> metrics, reports and
// predictions. The commands differ in how they read files and name things.
class TextClassification : public Task {
 public:
  void load(const TaskSetting& setting) final;
  models::HeadSpec head() const final;
  ops::LossOptions loss() const final { return loss_; }
  DatasetPtr train_data() const final { return train_data_; }
  std::vector<std::string> evaluation_suffixes() const final;
  std::int64_t evaluation_size(std::size_t set) const final { return evaluation_[set]->size(); }
  Metrics evaluate(Trainer& trainer, std::size_t set) final;
  Metrics predict(Trainer& trainer) final;
  std::vector<SamplePrediction> samples() const final { return samples_; }
  std::string report(const std::filesystem::path& output_dir) const final;
  void save_beside(const std::filesystem::path& folder) const final;
  TaskCard card() const final;
  std::string try_it(const std::string& model) const final;

  const TextProblem& problem() const { return problem_; }

 protected:
  virtual const TextArguments& arguments() const = 0;
  virtual TextData read(const TaskSetting& setting) const = 0;
  virtual std::optional<std::string> finetuning_task() const = 0;  // of config.json
  virtual std::string prediction_file(std::size_t set) const = 0;  // of output_dir
  virtual std::string set_name(std::size_t set) const { return set == 0 ? "" : "mismatched"; }

 private:
  using TextDatasetPtr = std::shared_ptr<const TextDataset>;
  TextDatasetPtr prepared(const TaskSetting& setting, TextSource& texts, bool labelled,
                          std::vector<std::int64_t> order = {}) const;
  void set_loss(const TextArguments& args);

  TextProblem problem_;
  TextMetrics metrics_;
  ops::LossOptions loss_;
  CollateOptions collate_options_;
  TextDatasetPtr train_data_;
  std::vector<TextDatasetPtr> evaluation_, prediction_;
  std::vector<ClassReport> reports_;  // of the last evaluation of each set
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer_;
  std::vector<SamplePrediction> samples_;
  std::vector<std::string> new_labels_;  // empty: the model's own
  bool has_pairs_ = false;
};

}  // namespace hearth::tasks
