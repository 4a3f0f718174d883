#include "hearth/tasks/task.h"

#include <algorithm>

#include "hearth/base/check.h"

namespace hearth::tasks {

std::optional<DatasetRequest> Task::dataset(const TrainingArguments& training) {
  return dataset_request(data(), training);
}

void Task::take_files(const hub::DatasetFiles& files, const TrainingArguments& training) {
  tasks::take_files(data(), files, training);
}

void Task::check_inputs(const TrainingArguments& training) { check_readable(data(), training); }

void check_vocabulary(const TokenRows& rows, const TaskSetting& setting, const std::string& file) {
  const std::int32_t largest = rows.ids.empty() ? 0 : std::ranges::max(rows.ids);
  check(largest < setting.vocab_size,
        "{} is not this model's tokenizer: {} has the token {}, and the model's vocabulary ends at {}",
        setting.tokenizer_folder.string(), file, largest, setting.vocab_size - 1);
}

}  // namespace hearth::tasks
