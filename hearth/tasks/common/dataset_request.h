#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/hub/dataset.h"
#include "hearth/tasks/common/data_arguments.h"

namespace hearth::tasks {

// A data set of the Hub that stands in place of files, and the splits of it that a run needs.
struct DatasetRequest {
  hub::DatasetChoice choice;
  std::vector<std::string> splits;
};

// What --dataset_name asks for; nullopt without it.
std::optional<DatasetRequest> dataset_request(const DataArguments& arguments, const TrainingArguments& training);

// Makes the data set's files those of the arguments. A split that the run needs and the data set lacks is an Error.
void take_files(DataArguments& arguments, const hub::DatasetFiles& files, const TrainingArguments& training);

// The files of a split or, where `split` has commas, of several. `flag` needs them: an Error where there are none.
std::vector<std::string> files_of_split(const hub::DatasetFiles& files, const std::string& dataset,
                                        const std::string& split, std::string_view flag);

}  // namespace hearth::tasks
