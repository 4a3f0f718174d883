#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/data/column.h"
#include "hearth/io/json_fwd.h"

namespace hearth::data {

// A cell that pandas.read_csv takes for a missing value: empty, NA, null, ...
bool is_missing_cell(std::string_view cell);

// The kind of the column that pandas.read_csv makes of cells.
class CsvKind {
 public:
  void add(std::string_view cell);
  ColumnKind kind() const;

 private:
  std::int64_t rows_ = 0, present_ = 0, whole_ = 0, integers_ = 0, numbers_ = 0, booleans_ = 0;
  bool is_text_ = false;
};

// The column of these cells, all of them strings. `kind` is that of a CsvKind that has seen them.
Column csv_column(std::shared_ptr<const RecordPlaces> places, std::string name, ColumnKind kind,
                  std::vector<io::Json> cells);

}  // namespace hearth::data
