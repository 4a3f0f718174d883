#include "hearth/data/records.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/data/csv_records.h"
#include "hearth/io/json.h"

namespace hearth::data {
namespace {

using io::Json;

constexpr std::string_view kSpaces = " \t\r\n";

bool is_row_number(std::string_view key) { return !key.empty() && key.find_first_not_of("0123456789") == key.npos; }

class Reader {
 public:
  Reader(std::string_view known_column, const std::string& file, const RecordSink& sink)
      : known_column_(known_column), file_(file), sink_(sink) {}

  void json_lines(std::string_view text) {
    for (int number = 1; !text.empty();) {
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(text.size(), line.size() + 1));
      if (line.find_first_not_of(kSpaces) == line.npos) continue;
      sink_(io::parse_json(line, fmt::format("{}: record {}", file_, number++)));
    }
  }

  void json(std::string_view text) {
    if (is_json_lines(text)) return json_lines(text);
    const Json document = io::parse_json(text, file_);
    if (!document.is_object() || !document.contains("data")) return records_of(document);
    const Json& data = document["data"];
    check(data.is_array() || data.is_object(), "{}: field \"data\" must be a list of records", file_);
    if (const auto names = document.find("columns"); names != document.end()) return named_rows(*names, data);
    records_of(data);
  }

 private:
  // More than one line, and the first is an object by itself.
  static bool is_json_lines(std::string_view text) {
    const std::size_t end = text.find('\n');
    if (end == text.npos || text.find_first_not_of(kSpaces, end) == text.npos) return false;
    try {
      return io::parse_json(text.substr(0, end), "").is_object();
    } catch (const Error&) {
      return false;
    }
  }

  void records_of(const Json& json) {
    const auto all = [&](auto is) { return json.is_object() && !json.empty() && std::ranges::all_of(json, is); };
    if (json.is_array()) {
      for (const Json& record : json) sink_(record);
    } else if (all([](const Json& member) { return member.is_array(); })) {
      columns_of_lists(json);
    } else if (!all([](const Json& member) { return member.is_object(); })) {
      sink_(json);
    } else if (is_record_by_row(json)) {
      for (const Json& record : json) sink_(record);
    } else {
      columns_of_objects(json);
    }
  }

  // {"0": {"column": value, ...}, ...} and not {"column": {"0": value, ...}, ...}
  bool is_record_by_row(const Json& json) const {
    if (known_column_ != kAnyColumn) return json.front().contains(known_column_);
    return !json.front().empty() && is_row_number(json.begin().key()) && !is_row_number(json.front().begin().key());
  }

  void check_rows(const Json& columns) const {
    const auto first = columns.begin();
    for (const auto& [name, values] : columns.items())
      check(values.size() == first->size(), "{}: column \"{}\" has {} values, but column \"{}\" has {}", file_, name,
            values.size(), first.key(), first->size());
  }

  void columns_of_lists(const Json& columns) {
    check_rows(columns);
    for (std::size_t row = 0; row < columns.front().size(); ++row) {
      Json record = Json::object();
      for (const auto& [name, values] : columns.items()) record[name] = values[row];
      sink_(record);
    }
  }

  // Every column lists the rows in the same order: one cursor per column saves searching for each.
  void columns_of_objects(const Json& columns) {
    check_rows(columns);
    std::vector<Json::const_iterator> cursors;
    for (const Json& column : columns) cursors.push_back(column.begin());
    for (const auto& [label, value] : columns.front().items()) {
      Json record = Json::object();
      auto cursor = cursors.begin();
      for (const auto& [name, column] : columns.items()) {
        check(cursor->key() == label, "{}: column \"{}\" has the row \"{}\" where column \"{}\" has the row \"{}\"",
              file_, name, cursor->key(), columns.begin().key(), label);
        record[name] = *(*cursor++)++;
      }
      sink_(record);
    }
  }

  void named_rows(const Json& names, const Json& rows) {
    check(names.is_array() && std::ranges::all_of(names, [](const Json& name) { return name.is_string(); }),
          "{}: field \"columns\" must be a list of names", file_);
    int number = 0;
    for (const Json& row : rows) {
      ++number;
      check(row.is_array() && row.size() == names.size(), "{}: record {} must be a list of {} values, one per column",
            file_, number, names.size());
      Json record = Json::object();
      for (std::size_t i = 0; i < names.size(); ++i) record[names[i].get<std::string>()] = row[i];
      sink_(record);
    }
  }

  std::string_view known_column_;
  const std::string& file_;
  const RecordSink& sink_;
};

}  // namespace

void read_records(std::string_view text, RecordFormat format, std::string_view known_column, const std::string& file,
                  const RecordSink& sink) {
  Reader reader(known_column, file, sink);
  switch (format) {
    case RecordFormat::json:
      return reader.json(text);
    case RecordFormat::json_lines:
      return reader.json_lines(text);
    case RecordFormat::csv:
      return read_csv_records(text, ',', file, sink);
    case RecordFormat::tsv:
      return read_csv_records(text, '\t', file, sink);
  }
}

}  // namespace hearth::data
