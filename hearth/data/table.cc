#include "hearth/data/table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/base/nearest_name.h"
#include "hearth/data/csv_column.h"
#include "hearth/data/json_column.h"
#include "hearth/data/record_columns.h"
#include "hearth/data/record_format.h"
#include "hearth/data/records.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"

namespace hearth::data {

Table::Table(std::string file, std::vector<Column> columns) : file_(std::move(file)), columns_(std::move(columns)) {}

std::vector<std::string> Table::names() const {
  std::vector<std::string> names;
  for (const Column& column : columns_) names.push_back(column.name());
  return names;
}

const Column* Table::find(std::string_view name) const {
  const auto found = std::ranges::find(columns_, name, &Column::name);
  return found == columns_.end() ? nullptr : &*found;
}

const Column& Table::at(std::string_view name) const {
  const Column* column = find(name);
  if (column != nullptr) return *column;
  const std::vector<std::string> known = names();
  fail("{} has no column \"{}\"; its columns are {}{}", file_, name, fmt::join(known, ", "),
       did_you_mean(nearest_name(name, known)));
}

void Table::keep_first(std::size_t rows) {
  for (Column& column : columns_) column.keep_first(rows);
}

Table read_table(const std::filesystem::path& path) {
  const std::string file = path.string();
  const std::optional<RecordFormat> format = record_format_of(path);
  check(format.has_value(), "{} is not a file of records: its name must end in {}", file, record_endings());
  const io::MappedFile contents(path);
  RecordColumns records(file);
  read_records(contents.text(), *format, kAnyColumn, file, [&](const io::Json& record) { records.add(record); });
  const bool is_text = *format == RecordFormat::csv || *format == RecordFormat::tsv;
  std::vector<Column> columns;
  for (auto& [name, values] : records.finish())
    columns.push_back(is_text ? csv_column(file, std::move(name), values) : json_column(file, std::move(name), values));
  return {file, std::move(columns)};
}

}  // namespace hearth::data
