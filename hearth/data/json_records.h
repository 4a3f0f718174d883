#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/data/json_list.h"
#include "hearth/data/record_source.h"
#include "hearth/data/text_lines.h"
#include "hearth/io/json.h"

namespace hearth::data {

// One JSON value per line; blank lines are skipped.
class JsonLines final : public RecordSource {
 public:
  explicit JsonLines(io::TextBuffer text) : lines_(std::move(text)) {}

  bool next(io::Json& record) override;
  const std::string& file() const override { return lines_.name(); }
  std::int64_t number() const override { return number_; }
  const std::vector<RecordField>& fields() const override { return fields_; }

 private:
  TextLines lines_;
  std::int64_t number_ = 0;
  std::vector<RecordField> fields_;  // none are declared
};

// A .json file: JSON lines, a list of records, {"data": [...]}, a single record, or what pandas' DataFrame.to_json
// writes: {"column": {"0": value, ...}, ...}, {"column": [value, ...], ...}, {"0": {"column": value, ...}, ...},
// {"columns": [...], "data": [[...], ...]}. A column that the records are known to have tells the first of these forms
// from the third. With kAnyColumn, keys that are whole numbers tell them apart.
// JSON lines and lists of records are read one by one; a file of another form is held in memory as a whole.
class JsonRecords final : public RecordSource {
 public:
  JsonRecords(const std::filesystem::path& file, std::string_view known_column);

  bool next(io::Json& record) override;
  const std::string& file() const override { return file_; }
  std::int64_t number() const override { return number_; }
  const std::vector<RecordField>& fields() const override { return fields_; }

 private:
  std::string file_;
  std::int64_t number_ = 0;
  std::unique_ptr<JsonLines> lines_;  // at most one of these
  std::unique_ptr<JsonList> list_;
  std::deque<io::Json> records_;     // of a file that was read as a whole
  std::vector<RecordField> fields_;  // none are declared
};

}  // namespace hearth::data
