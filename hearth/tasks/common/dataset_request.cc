#include "hearth/tasks/common/dataset_request.h"

#include <fmt/ranges.h>

#include "hearth/base/check.h"
#include "hearth/tasks/common/name_list.h"

namespace hearth::tasks {

std::optional<DatasetRequest> dataset_request(const DataArguments& arguments, const TrainingArguments& training) {
  if (!arguments.dataset_name) return std::nullopt;
  DatasetRequest request;
  request.choice.name = *arguments.dataset_name;
  request.choice.config = arguments.dataset_config_name.value_or("");
  const auto need = [&](bool is_needed, const std::string& splits) {
    if (is_needed)
      for (std::string& name : names_in(splits)) request.splits.push_back(std::move(name));
  };
  need(training.do_train, arguments.train_split);
  need(training.do_eval, arguments.validation_split);
  need(training.do_predict, arguments.test_split);
  return request;
}

std::vector<std::string> files_of_split(const hub::DatasetFiles& files, const std::string& dataset,
                                        const std::string& split, std::string_view flag) {
  std::vector<std::string> found;
  for (const std::string& name : names_in(split)) {
    const auto part = files.splits.find(name);
    check(part != files.splits.end(), "{} needs the split {}, and the data set {} has {}", flag, name, dataset,
          fmt::join(files.names, ", "));
    for (const std::filesystem::path& file : part->second) found.push_back(file.string());
  }
  return found;
}

void take_files(DataArguments& arguments, const hub::DatasetFiles& files, const TrainingArguments& training) {
  const auto of_split = [&](const std::string& split, std::string_view flag) {
    return files_of_split(files, *arguments.dataset_name, split, flag);
  };
  if (training.do_train) arguments.train_file = of_split(arguments.train_split, "--do_train");
  if (training.do_eval) arguments.validation_file = of_split(arguments.validation_split, "--do_eval");
  if (training.do_predict) arguments.test_file = of_split(arguments.test_split, "--do_predict");
}

}  // namespace hearth::tasks
