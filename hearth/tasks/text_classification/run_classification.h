#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hearth/tasks/text_classification/columns.h"
#include "hearth/tasks/text_classification/text_classification.h"

namespace hearth::tasks {

// run_classification.py: any columns; one label or several labels per text, or a number.
class RunClassification final : public TextClassification {
 public:
  void declare(Arguments& options) override { tasks::declare(options, args_); }
  void validate(const TrainingArguments& training) override { args_.validate(training); }
  DataArguments& data() override { return args_; }

  const ClassificationArguments& classification_arguments() const { return args_; }

 protected:
  const TextArguments& arguments() const override { return args_; }
  TextData read(const TaskSetting& setting) const override;
  std::optional<std::string> finetuning_task() const override { return "text-classification"; }
  std::string prediction_file(std::size_t) const override { return "predict_results.txt"; }

 private:
  std::string label_column() const { return args_.label_column(); }
  TextColumns columns_of(const data::Table& table) const;
  TextProblem problem_in(TextData& data, const TaskSetting& setting) const;
  std::vector<std::string> all_labels(TextData& data, bool warns) const;
  TextMetrics metrics_of(const TextProblem& problem) const;

  ClassificationArguments args_;
};

}  // namespace hearth::tasks
