#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hearth/io/json.h"

namespace hearth::data {

// The values of one column, one per record; null where a record lacks the column.
struct RecordColumn {
  std::string name;
  std::vector<io::Json> values;
};

// Sorts the fields of records into columns, in the order in which the columns first appear.
class RecordColumns {
 public:
  explicit RecordColumns(std::string file) : file_(std::move(file)) {}

  void add(const io::Json& record);
  std::vector<RecordColumn> finish();

 private:
  RecordColumn& column_named(const std::string& name);

  std::string file_;
  std::size_t records_ = 0;
  std::vector<RecordColumn> columns_;
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace hearth::data
