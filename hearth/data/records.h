#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "hearth/data/record_format.h"
#include "hearth/io/json_fwd.h"

namespace hearth::data {

inline constexpr std::string_view kAnyColumn;  // no column is known
using RecordSink = std::function<void(const io::Json& record)>;

// Hands on the records of a file, in order. `file` is the name used in errors; they count records from 1.
// - csv, tsv: a header, then one record per row; all values are strings (csv_records.h);
// - json_lines: one JSON value per line;
// - json: the same, a list of records, {"data": [...]}, a single record, or what pandas' DataFrame.to_json writes:
//   {"column": {"0": value, ...}, ...}, {"column": [value, ...], ...}, {"0": {"column": value, ...}, ...},
//   {"columns": [...], "data": [[...], ...]}. `known_column` is a column that the records are expected to have; it
//   tells the first of these forms from the third. With kAnyColumn, keys that are whole numbers tell them apart.
void read_records(std::string_view text, RecordFormat format, std::string_view known_column, const std::string& file,
                  const RecordSink& sink);

}  // namespace hearth::data
