#pragma once

#include <optional>
#include <string>

#include "hearth/data/glue.h"
#include "hearth/tasks/text_classification/text_classification.h"

namespace hearth::tasks {

// run_glue.py: the tasks of GLUE, and files of one's own with one label per text or pair.
class RunGlue final : public TextClassification {
 public:
  void declare(Arguments& options) override { tasks::declare(options, args_); }
  void validate(const TrainingArguments& training) override { args_.validate(training); }
  DataArguments& data() override { return args_; }
  std::optional<DatasetRequest> dataset(const TrainingArguments& training) override;
  void take_files(const hub::DatasetFiles& files, const TrainingArguments& training) override;

  const GlueArguments& glue_arguments() const { return args_; }

 protected:
  const TextArguments& arguments() const override { return args_; }
  TextData read(const TaskSetting& setting) const override;
  std::optional<std::string> finetuning_task() const override;
  std::string prediction_file(std::size_t set) const override;

 private:
  TextData read_glue(const TaskSetting& setting, const data::GlueTask& task) const;
  TextData read_own(const TaskSetting& setting) const;

  GlueArguments args_;
};

}  // namespace hearth::tasks
