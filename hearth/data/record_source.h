#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/data/column.h"
#include "hearth/data/files.h"
#include "hearth/io/json_fwd.h"

namespace hearth::data {

// A field that a file declares for all of its records.
struct RecordField {
  std::string name;
  std::optional<ColumnKind> kind = {};        // not known from the header of a .csv file
  std::string type = {};                      // as the format calls it, for errors
  std::vector<std::string> class_names = {};  // of whole numbers that stand for labels: the names, by number

  bool operator==(const RecordField&) const = default;
};

// The records of one or several files, one after another. Only a few are in memory at a time.
class RecordSource {
 public:
  virtual ~RecordSource() = default;

  // Reads the next record; false at the end. A record is an object, except where a JSON file holds something else.
  virtual bool next(io::Json& record) = 0;
  // Where the last record stands: its file, and its number in it, counted from 1.
  virtual const std::string& file() const = 0;
  virtual std::int64_t number() const = 0;
  RecordPlace place() const { return {file(), number()}; }

  // Those of a .parquet file, and the names in the header of a .csv file; empty where the format declares none.
  virtual const std::vector<RecordField>& fields() const = 0;
  virtual std::optional<std::int64_t> rows() const { return std::nullopt; }  // where the format says how many
  // Records will have these fields alone, where that saves work. A field of a type that cannot be read is an Error.
  virtual void select(const std::vector<std::string>& /*names*/) {}
};
using RecordSourcePtr = std::unique_ptr<RecordSource>;

inline constexpr std::string_view kAnyColumn;  // no column is known

// Files as one source: each is opened by `open` when its turn comes. Their fields must be the same.
using OpenFile = std::function<RecordSourcePtr(const std::filesystem::path& file)>;
RecordSourcePtr records_in_turn(const Files& files, OpenFile open);

// Opens files, all of one format and with the same fields, as one source. `known_column` is a field that the records
// are expected to have: it helps to tell the forms of JSON apart (json_records.h).
RecordSourcePtr open_records(const Files& files, std::string_view known_column = kAnyColumn);

}  // namespace hearth::data
