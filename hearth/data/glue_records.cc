#include "hearth/base/check.h"
#include "hearth/data/glue_file.h"
#include "hearth/data/record_format.h"
#include "hearth/data/table.h"

namespace hearth::data {
namespace {

std::int64_t label_of(const Column& labels, std::size_t row, const GlueTask& task, const std::string& file) {
  const std::int64_t label = labels.integer(row);
  check(label >= 0 && label < std::ssize(task.labels), "{}: record {} has the label {}; {} has the labels 0 to {}",
        file, row + 1, label, task.name, task.labels.size() - 1);
  return label;
}

}  // namespace

GlueRows read_glue(const std::filesystem::path& path, const GlueTask& task) {
  if (record_format_of(path) == RecordFormat::tsv) return read_glue_file(path, task, GlueLabels::required);
  const Table table = read_table(path);
  const Column& labels = table.at(task.columns.label);
  GlueRows rows;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    rows.a.push_back(table.at(task.columns.a).text(row));
    if (task.has_pairs()) rows.b.push_back(table.at(task.columns.b).text(row));
    if (task.is_regression())
      rows.scores.push_back(labels.number(row));
    else
      rows.labels.push_back(label_of(labels, row, task, table.file()));
  }
  return rows;
}

}  // namespace hearth::data
