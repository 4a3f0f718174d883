#include "hearth/data/record_columns.h"

#include "hearth/base/check.h"
#include "hearth/io/json.h"

namespace hearth::data {

void RecordColumns::add(const io::Json& record) {
  check(record.is_object(), "{}: record {} must be an object with named fields, such as {}", file_, records_ + 1,
        R"({"sentence": "It rains.", "label": 0})");
  for (const auto& [name, value] : record.items()) {
    RecordColumn& column = column_named(name);
    column.values.resize(records_);
    column.values.push_back(value);
  }
  ++records_;
}

std::vector<RecordColumn> RecordColumns::finish() {
  check(!columns_.empty(), "{} holds no records", file_);
  for (RecordColumn& column : columns_) column.values.resize(records_);
  return std::move(columns_);
}

RecordColumn& RecordColumns::column_named(const std::string& name) {
  const auto [found, is_new] = places_.emplace(name, columns_.size());
  if (is_new) columns_.push_back({name, {}});
  return columns_[found->second];
}

}  // namespace hearth::data
