#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/data/table.h"
#include "hearth/tasks/text_classification/rows.h"

namespace hearth::tasks {

// Which columns of a table are the texts and the label.
struct TextColumns {
  std::vector<std::string> first, second;  // several columns are joined; second: empty where a row has one text
  std::string delimiter = " ";
  std::string label = "label";

  std::vector<std::string> texts() const;  // first, then second
};

// As run_glue.py: sentence1 and sentence2, else the first two columns, else the only one. The label and columns without
// texts do not count.
TextColumns glue_columns(const data::Table& table);
// As run_classification.py: sentence. Without it, the only column with texts that is not in `except`.
TextColumns sentence_column(const data::Table& table, const std::string& label, const std::vector<std::string>& except);

// The two columns with texts that are neither the label nor in `except`: sentence1 and sentence2, or the first two.
TextColumns pair_columns(const data::Table& table, const std::string& label, const std::vector<std::string>& except);

// An Error where a table lacks a column of text that the file `reference` has.
void check_same_columns(const data::Table& table, const TextColumns& columns, const std::string& reference);

enum class LabelsIn { required, optional, nowhere };  // optional: files to make predictions for; nowhere: not read

// The rows of a table. A missing column is an Error that lists the columns.
TextRows text_rows(const data::Table& table, const TextColumns& columns, LabelsIn labels);

}  // namespace hearth::tasks
