#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/base/api.h"
#include "hearth/data/column.h"
#include "hearth/data/files.h"

namespace hearth::data {

// The rows and columns of a data file, with the types that pandas and Hugging Face's datasets infer.
class HEARTH_API Table {
 public:
  // All columns have the size of `places`.
  Table(std::shared_ptr<const RecordPlaces> places, std::vector<Column> columns);

  const std::string& file() const { return places_->name(); }
  std::size_t rows() const { return columns_.empty() ? 0 : columns_.front().size(); }
  RecordPlace place(std::size_t row) const { return places_->of(row); }
  const std::vector<Column>& columns() const { return columns_; }  // in the file's order
  std::vector<std::string> names() const;
  const Column* find(std::string_view name) const;  // null if there is none
  const Column& at(std::string_view name) const;    // the Error lists the columns and the nearest name
  void keep_first(std::size_t rows);

 private:
  std::shared_ptr<const RecordPlaces> places_;
  std::vector<Column> columns_;
};

// Reads a file of records (record_source.h) as a whole; a file without records is an Error.
// - csv, tsv: as pandas.read_csv. Cells such as NA, null and empty ones are missing; a column of whole numbers is
//   integer, or number if one is missing; all other columns of numbers are number; True and False are boolean; anything
//   else is text, and keeps its spelling.
// - json, jsonl: the JSON types decide. Whole numbers and fractions make number; null and absent fields are missing;
//   any other mixture of types in one column is an Error.
// - parquet: the schema decides. Columns of other types than those of ColumnKind are `other`.
HEARTH_API Table read_table(const std::filesystem::path& path);
HEARTH_API Table read_table(const Files& files);  // as one table

}  // namespace hearth::data
