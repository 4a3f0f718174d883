#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hearth/data/record_source.h"
#include "hearth/data/table.h"

namespace hearth::data {

// Reads the rows of a table in parts, each a Table whose columns have the kinds that all rows together have. Where the
// format does not declare them, the records are read once to find the kinds, and again for the rows.
class TableReader {
 public:
  using Open = std::function<RecordSourcePtr()>;

  // `name` is the name of all files together.
  TableReader(std::string name, Open open);
  explicit TableReader(const Files& files);
  ~TableReader();

  const std::string& name() const { return name_; }
  Table outline() const;  // the columns, without rows
  // The names of the labels that a column of whole numbers stands for; empty where the files do not name them.
  const std::vector<std::string>& class_names(const std::string& column) const;

  std::int64_t rows() const;  // of all parts; may read the files to count them

  // The next rows, at most `rows`; nothing at the end. Files without rows are an Error.
  std::optional<Table> next(std::size_t rows);
  // Begins anew, with these columns alone.
  void restart(const std::vector<std::string>& columns);

 private:
  void find_kinds();

  std::string name_;
  Open open_;
  bool is_csv_ = false;
  std::vector<RecordField> fields_;    // of all columns, with their kinds
  std::vector<RecordField> selected_;  // of the columns that are read
  RecordSourcePtr source_;
  std::int64_t read_ = 0;                     // rows since the beginning
  mutable std::optional<std::int64_t> rows_;  // not counted yet
};

}  // namespace hearth::data
