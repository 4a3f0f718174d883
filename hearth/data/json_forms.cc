#include "hearth/data/json_forms.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/data/record_source.h"
#include "hearth/io/json.h"

namespace hearth::data {
namespace {

using io::Json;

bool is_row_number(std::string_view key) { return !key.empty() && key.find_first_not_of("0123456789") == key.npos; }

class Forms {
 public:
  Forms(std::string_view known_column, const std::string& file) : known_column_(known_column), file_(file) {}

  std::deque<Json> records_of(Json& document) {
    if (!document.is_object() || !document.contains("data")) {
      add(document);
    } else {
      Json& data = document["data"];
      check(data.is_array() || data.is_object(), "{}: field \"data\" must be a list of records", file_);
      const auto names = document.find("columns");
      if (names != document.end()) {
        add_named_rows(*names, data);
      } else {
        add(data);
      }
    }
    return std::move(records_);
  }

 private:
  void add(Json& json) {
    const auto all = [&](auto is) { return json.is_object() && !json.empty() && std::ranges::all_of(json, is); };
    if (json.is_array()) {
      for (Json& record : json) records_.push_back(std::move(record));
    } else if (all([](const Json& member) { return member.is_array(); })) {
      add_columns_of_lists(json);
    } else if (!all([](const Json& member) { return member.is_object(); })) {
      records_.push_back(std::move(json));
    } else if (is_record_by_row(json)) {
      for (Json& record : json) records_.push_back(std::move(record));
    } else {
      add_columns_of_objects(json);
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

  void add_columns_of_lists(Json& columns) {
    check_rows(columns);
    for (std::size_t row = 0; row < columns.front().size(); ++row) {
      Json& record = records_.emplace_back(Json::object());
      for (auto& [name, values] : columns.items()) record[name] = std::move(values[row]);
    }
  }

  // Every column lists the rows in the same order: one cursor per column saves searching for each.
  void add_columns_of_objects(const Json& columns) {
    check_rows(columns);
    std::vector<Json::const_iterator> cursors;
    for (const Json& column : columns) cursors.push_back(column.begin());
    for (const auto& [label, value] : columns.front().items()) {
      Json& record = records_.emplace_back(Json::object());
      auto cursor = cursors.begin();
      for (const auto& [name, column] : columns.items()) {
        check(cursor->key() == label, "{}: column \"{}\" has the row \"{}\" where column \"{}\" has the row \"{}\"",
              file_, name, cursor->key(), columns.begin().key(), label);
        record[name] = *(*cursor++)++;
      }
    }
  }

  void add_named_rows(const Json& names, const Json& rows) {
    check(names.is_array() && std::ranges::all_of(names, [](const Json& name) { return name.is_string(); }),
          "{}: field \"columns\" must be a list of names", file_);
    for (const Json& row : rows) {
      check(row.is_array() && row.size() == names.size(), "{}: record {} must be a list of {} values, one per column",
            file_, records_.size() + 1, names.size());
      Json& record = records_.emplace_back(Json::object());
      for (std::size_t i = 0; i < names.size(); ++i) record[names[i].get<std::string>()] = row[i];
    }
  }

  std::string_view known_column_;
  const std::string& file_;
  std::deque<Json> records_;
};

}  // namespace

std::deque<Json> records_of_document(Json document, std::string_view known_column, const std::string& file) {
  return Forms(known_column, file).records_of(document);
}

}  // namespace hearth::data
