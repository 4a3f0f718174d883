#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/base/api.h"

namespace hearth::data {

struct GlueColumns {
  std::string a, b, label;  // b is empty where a row has one text
};

// A task of the GLUE benchmark.
struct GlueTask {
  std::string name;                  // as run_glue.py's --task_name
  GlueColumns columns;               // of Hugging Face's dataset
  GlueColumns file_columns;          // of GLUE's own files, see glue_file.h
  std::vector<std::string> labels;   // by id; empty for regression
  std::vector<std::string> metrics;  // keys, without combined_score, the mean where there are several

  bool has_pairs() const { return !columns.b.empty(); }
  bool is_regression() const { return labels.empty(); }
};

HEARTH_API std::span<const GlueTask> glue_tasks();

// Letter case, - and _ do not count: SST-2 is sst2. Another name is an Error that lists the tasks.
HEARTH_API const GlueTask& glue_task(std::string_view name);

}  // namespace hearth::data
