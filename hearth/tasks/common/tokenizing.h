#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "hearth/tasks/task.h"

namespace hearth::tasks {

// Calls work(0) ... work(rows - 1) on all threads, below the progress bar "tokenising FILE".
void for_each_row(const std::string& file, std::int64_t rows, const TaskSetting& setting,
                  const std::function<void(std::int64_t row)>& work);

// Checks that the tokens fit the model, and that all processes made the same ones from this file. `arrays` is what the
// rows have beside the tokens, such as labels.
void check_rows(const TokenRows& rows, const std::vector<std::span<const std::byte>>& arrays, const std::string& file,
                const TaskSetting& setting);

}  // namespace hearth::tasks
