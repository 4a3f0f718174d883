#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hearth/data/column.h"
#include "hearth/data/record_source.h"
#include "hearth/io/json_fwd.h"

namespace hearth::data {

// The kind of a column of JSON values; null and NaN are missing. Values of mixed kinds are an Error that names the
// first record of each kind.
class JsonKind {
 public:
  explicit JsonKind(std::string name) : name_(std::move(name)) {}

  void add(const io::Json& value, const RecordSource& source);  // the source's last record has the value
  ColumnKind kind() const;

 private:
  ColumnKind kind_of(const io::Json& value, const RecordSource& source) const;
  [[noreturn]] void mixed(ColumnKind kind, const RecordPlace& place, ColumnKind other, const RecordPlace& at) const;

  std::string name_;
  std::optional<ColumnKind> all_;
  RecordPlace first_, empty_list_;  // of the first value; of the first empty list, which fits every kind of list
};

// The column of these values, which fit `kind`; where one does not, an Error names its record.
Column json_column(std::shared_ptr<const RecordPlaces> places, std::string name, ColumnKind kind,
                   std::vector<io::Json> values);

}  // namespace hearth::data
