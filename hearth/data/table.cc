#include "hearth/data/table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/base/nearest_name.h"
#include "hearth/data/table_reader.h"

namespace hearth::data {

Table::Table(std::shared_ptr<const RecordPlaces> places, std::vector<Column> columns)
    : places_(std::move(places)), columns_(std::move(columns)) {}

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
  fail("{} has no column \"{}\"; its columns are {}{}", file(), name, fmt::join(known, ", "),
       did_you_mean(nearest_name(name, known)));
}

void Table::keep_first(std::size_t rows) {
  for (Column& column : columns_) column.keep_first(rows);
}

Table read_table(const std::filesystem::path& path) { return read_table(Files{path}); }

Table read_table(const Files& files) {
  TableReader reader(files);
  return *reader.next(std::numeric_limits<std::size_t>::max());
}

}  // namespace hearth::data
