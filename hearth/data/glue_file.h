#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hearth/base/api.h"
#include "hearth/data/files.h"
#include "hearth/data/glue.h"

namespace hearth::data {

struct GlueRows {
  std::vector<std::string> a, b;     // b is empty for tasks with one text
  std::vector<std::int64_t> labels;  // ids; empty for regression and without labels
  std::vector<double> scores;        // of regression; empty without labels
  std::int64_t cut_rows = 0;         // left out: rows of QQP with too few fields
  std::int64_t undecided_rows = 0;   // left out: rows of MNLI whose gold label is "-"

  std::size_t size() const { return a.size(); }
  bool has_labels() const { return !labels.empty() || !scores.empty(); }
};

// optional: GLUE's test files have no labels; ignored: a column of labels is not read.
enum class GlueLabels { required, optional, ignored };

// Reads the rows of a GLUE task as a whole, see open_glue (glue_records.h).
HEARTH_API GlueRows read_glue(const std::filesystem::path& file, const GlueTask& task,
                              GlueLabels labels = GlueLabels::required);

}  // namespace hearth::data
