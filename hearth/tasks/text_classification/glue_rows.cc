#include "hearth/tasks/text_classification/glue_rows.h"

#include <fmt/ranges.h>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/data/glue_file.h"
#include "hearth/data/record_format.h"
#include "hearth/data/table.h"

namespace hearth::tasks {
namespace {

using data::Column, data::ColumnKind, data::GlueTask;

Column column_of(const std::string& file, ColumnKind kind, Column::Values values, std::size_t rows) {
  return {file, "label", kind, std::move(values), std::vector<bool>(rows)};
}

Column named_labels(const std::string& file, const GlueTask& task, const std::vector<std::int64_t>& ids) {
  std::vector<std::string> names;
  for (const std::int64_t id : ids) names.push_back(task.labels[static_cast<std::size_t>(id)]);
  return column_of(file, ColumnKind::text, std::move(names), ids.size());
}

void log_left_out(const std::string& file, const data::GlueRows& rows) {
  if (rows.cut_rows > 0) log_warning("{}: {} rows have too few fields and are left out", file, rows.cut_rows);
  if (rows.undecided_rows > 0) log_info("{}: {} rows without a gold label are left out", file, rows.undecided_rows);
}

TextRows tsv_rows(const std::string& file, const GlueTask& task, LabelsIn labels, bool logs) {
  data::GlueRows read = data::read_glue_file(
      file, task, labels == LabelsIn::required ? data::GlueLabels::required : data::GlueLabels::ignored);
  if (logs) log_left_out(file, read);
  const std::size_t count = read.size();
  TextRows rows{file, std::move(read.a), std::move(read.b), std::nullopt};
  if (!read.labels.empty()) rows.labels = named_labels(file, task, read.labels);
  if (!read.scores.empty()) rows.labels = column_of(file, ColumnKind::number, std::move(read.scores), count);
  return rows;
}

// Numbers of labels as their names.
Column with_names(const std::string& file, const GlueTask& task, const Column& labels) {
  if (labels.kind() != ColumnKind::integer) return labels;
  std::vector<std::int64_t> ids;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const std::int64_t id = labels.integer(row);
    check(id >= 0 && id < std::ssize(task.labels),
          "{}: record {} has the label {}; the labels of {} are the numbers 0 to {}, {}", file, row + 1, id, task.name,
          task.labels.size() - 1, fmt::join(task.labels, ", "));
    ids.push_back(id);
  }
  return named_labels(file, task, ids);
}

}  // namespace

TextRows glue_rows(const std::string& file, const GlueTask& task, LabelsIn labels, bool logs) {
  if (data::record_format_of(file) == data::RecordFormat::tsv) return tsv_rows(file, task, labels, logs);
  TextColumns columns{{task.columns.a}, {}, " ", task.columns.label};
  if (task.has_pairs()) columns.second = {task.columns.b};
  TextRows rows = text_rows(data::read_table(file), columns, labels);
  if (rows.labels && !task.is_regression()) rows.labels = with_names(file, task, *rows.labels);
  return rows;
}

}  // namespace hearth::tasks
