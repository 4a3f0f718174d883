#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hearth/data/csv.h"
#include "hearth/data/record_source.h"

namespace hearth::data {

// The rows below the header as objects of strings. Columns are named as in pandas: "Unnamed: 2" for the third if it has
// no name, and a name's second use gets ".1".
class CsvRecords final : public RecordSource {
 public:
  CsvRecords(const std::filesystem::path& file, char separator);

  bool next(io::Json& record) override;
  const std::string& file() const override { return reader_.name(); }
  std::int64_t number() const override { return reader_.number(); }
  const std::vector<RecordField>& fields() const override { return fields_; }

 private:
  [[noreturn]] void wrong_number() const;

  CsvReader reader_;
  std::vector<RecordField> fields_;
  std::vector<std::string> cells_;
};

// A name that pandas gives a column without one, such as the index that to_csv writes.
bool is_unnamed(std::string_view column);

}  // namespace hearth::data
